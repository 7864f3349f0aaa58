// The pages about watchers, pools, rules, MQTT, rate limits, the decision log and adapters: their programs are the text of examples, and
// the examples run.

import { EventEmitter } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

import { createElement } from "react";
import { renderToString } from "react-dom/server";
import { render as renderSvelte } from "svelte/server";
import { describe, expect, it, vi } from "vitest";
import { createSSRApp } from "vue";
import { renderToString as renderVue } from "vue/server-renderer";
import { memory } from "wardgate/ratelimit";

import * as onCerbos from "../example/cerbos.ts";
import * as onExpress from "../example/express.ts";
import * as onFastify from "../example/fastify.ts";
import * as onHono from "../example/hono.ts";
import { changesBy, decisionsOf, describeProof, openLogged } from "../example/log.ts";
import * as onMqtt from "../example/mqtt.ts";
import { albumGuard } from "../example/nest.ts";
import { openTraced } from "../example/opentelemetry.ts";
import { editable } from "../example/pool.ts";
import { decisionsFor, Page, type PageProps } from "../example/react.tsx";
import * as onLimits from "../example/ratelimit.ts";
import * as policyLimits from "../example/policy-limits.ts";
import SveltePage from "../example/AlbumPage.svelte?server";
import VuePage from "../example/AlbumPage.vue";
import { mayGet, openPages, reasons } from "../example/spocp.ts";
import { albumRouter } from "../example/trpc.ts";
import { mayView, watch } from "../example/watcher.ts";
import { mqtt } from "./mqtt/mqtt.ts";
import { open } from "./pdp/open.ts";
import { addressOf, fixture, noon, openAlbum, releaseKey, signed, viewing } from "./testing.ts";
import type { Principal } from "./pdp/request-types.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

describe.each(["adapters", "DECISION-LOG", "MQTT", "pool", "ratelimit", "spocp", "watcher"])("docs/%s.md", (page) => {
  it("shows programs that are examples of the package", () => {
    const examples = readdirSync(new URL("../example", import.meta.url)).filter((name) => /\.(tsx?|svelte|vue)$/.test(name));
    const texts = examples.map((name) => read(`../example/${name}`));
    const blocks = [...read(`../../docs/${page}.md`).matchAll(/^```(?:tsx?|svelte|vue)\n(.*?)^```$/gms)].map(([, block]) => block!);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(texts.some((text) => text.includes(block)), block).toBe(true);
  });
});

describe("docs/adapters.md", () => {
  it("begins with the server that `wardgate init` writes", () => {
    const [, server] = /^```js\n\/\/ server\.mjs\n(.*?)^```$/ms.exec(read("../../docs/adapters.md"))!;
    expect(server).toBe(read("../../crates/cli/src/init/files/express.mjs"));
  });
});

describe("docs/package-errors.md", () => {
  const sections = [...read("../../docs/package-errors.md").matchAll(/^### `(.*)`$/gm)].map(([, name]) => name!);

  it("has a section for each code that is no refusal, and for each reason", () => {
    const [, codes] = /export type Code =\n {2}\| Refusal\n(.*?);/s.exec(read("base/errors.ts"))!;
    const [, reasons] = /export type Reason =\n(.*?)\n\n/s.exec(read("pdp/decision.ts"))!;
    const named = [...codes!.matchAll(/"(.*)"/g), ...reasons!.matchAll(/kind: "([^"]*)"/g)].map(([, name]) => name!);
    expect(named.length).toBeGreaterThan(20);
    expect(sections.toSorted()).toEqual(named.toSorted());
  });

  it("leads to a page with every refusal", () => {
    const [, refusals] = /export type Refusal =\n(.*?);/s.exec(read("base/errors.ts"))!;
    const pages = read("../../docs/package-errors.md") + read("../../docs/BUNDLE.md");
    for (const [, name] of refusals!.matchAll(/"(.*)"/g)) expect(pages, name).toContain(`\`${name}\``);
  });
});

/** A connection whose other end is the test. */
class Wire extends EventEmitter {
  readonly written: Uint8Array[] = [];
  isEnded = false;

  write(bytes: Uint8Array): void {
    this.written.push(bytes);
  }

  end(): void {
    this.isEnded = true;
  }
}

const { principal, resource } = viewing();
const albums = new Map([["a1", resource]]);
const signedIn = async (token: string): Promise<Principal | undefined> => (token === "ada" ? principal : undefined);
const paths: readonly (readonly [path: string, token: string, on: readonly [hono: number, express: number]])[] = [
  ["/albums/a1", "ada", [200, 200]],
  ["/albums/a1", "bo", [403, 404]],
  ["/albums/a1", "", [403, 404]],
  ["/albums/a2", "ada", [403, 404]],
];

describe("the example", () => {
  it("for Hono answers", async () => {
    const app = onHono.albumApp(await openAlbum(), albums, signedIn);
    for (const [path, authorization, [expected]] of paths) {
      expect((await app.request(path, { headers: { authorization } })).status).toBe(expected);
    }
  });

  it("for Express answers", async () => {
    const server = onExpress.albumApp(await openAlbum(), albums, signedIn).listen(0, "127.0.0.1");
    const address = await addressOf(server);
    for (const [path, authorization, [, expected]] of paths) {
      expect((await fetch(`${address}${path}`, { headers: { authorization } })).status).toBe(expected);
    }
    server.close();
    server.closeAllConnections();
  });

  it("for Fastify answers", async () => {
    const app = onFastify.albumApp(await openAlbum(), albums, signedIn);
    for (const [url, authorization, [expected]] of paths) expect((await app.inject({ url, headers: { authorization } })).statusCode).toBe(expected);
  });

  it("for tRPC answers", async () => {
    const router = albumRouter(await openAlbum(), albums);
    expect(await router.createCaller({ principal }).album("a1")).toBe("here is a1");
    for (const [context, id] of [[{}, "a1"], [{ principal }, "a2"]] as const) {
      await expect(router.createCaller(context).album(id)).rejects.toMatchObject({ code: "FORBIDDEN" });
    }
  });

  it("for Nest answers", async () => {
    const guard = albumGuard(await openAlbum(), albums, signedIn);
    for (const [path, authorization, [expected]] of paths) {
      const request = { headers: { authorization }, params: { id: path.split("/").at(-1) } };
      const context = { switchToHttp: () => ({ getRequest: () => request }) } as never;
      expect(await guard.canActivate(context)).toBe(expected === 200);
    }
  });

  it("for clients of Cerbos answers", async () => {
    expect(await onCerbos.answers(await openAlbum())).toEqual([true, false, ["view", "edit"]]);
  });

  it.each<[string, (props: PageProps) => Promise<string> | string]>([
    ["React", (props) => renderToString(createElement(Page, props))],
    ["Vue", (props) => renderVue(createSSRApp(VuePage, { ...props }))],
    ["Svelte", (props) => renderSvelte(SveltePage, { props }).body],
  ])("for %s shows what may be done, by decisions of the server or by a PDP", async (_, render) => {
    const pdp = await openAlbum();
    const mine = [{ id: "a1", owner: "ada" }, { id: "a2", owner: "bo" }];
    const page = async (changes: object): Promise<string> => (await render({ albums: mine, principal, ...changes })).replaceAll(/<!--.*?-->/g, "").replaceAll(/(?<=>)\s+|\s+(?=<)/g, "");
    const shown = "<section><button>edit</button></section><section>look only<small>by bo</small></section>";
    expect(await page({ pdp })).toBe(shown);
    expect(await page({ decisions: JSON.parse(JSON.stringify(decisionsFor(pdp, principal, mine))) })).toBe(shown);
    expect(await page({ pdp, principal: null })).toBe("");
    expect(await page({})).toBe("<p>one moment</p>");
  });

  it("with OpenTelemetry decides without an SDK too", async () => {
    using pdp = await openTraced(fixture("album.bundle"), "unsigned");
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("of a watcher logs and decides", async () => {
    const lines: string[] = [];
    vi.stubGlobal("fetch", async () => new Response(new Uint8Array(signed)));
    vi.useFakeTimers({ toFake: ["Date"], now: noon });
    using watcher = watch("https://policies.example/album.bundle", releaseKey, (line) => lines.push(line));
    expect(await mayView(watcher, "ada")).toBe(true);
    await watcher.refresh();
    expect(lines).toEqual(["revision 7 is in use"]);
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("of rules answers", async () => {
    using pdp = await openPages(fixture("spocp.bundle"), "unsigned");
    expect([mayGet(pdp, "index.html", "bo"), mayGet(pdp, "other.html", "bo"), mayGet(pdp, "x", "ada")]).toEqual([true, false, true]);
    expect(mayGet(pdp, "x)(action GET)(user ada", "bo")).toBe(false);
    expect(reasons(pdp, "(binary |AP8=|)")).toEqual(["(binary #00ff#)"]);
  });

  it("of the decision log records decisions, and reads and proves records", async () => {
    const written: Uint8Array[] = [];
    const { pdp, log } = await openLogged(fixture("album.bundle"), "unsigned", async (bytes) => void written.push(bytes));
    expect(pdp.isAllowed(viewing())).toBe(true);
    await log.flush();
    expect(await decisionsOf(Buffer.concat(written), "ada")).toMatchObject([{ resource: { id: "a1" } }]);
    expect(await changesBy(fixture("closed.bundle"), Buffer.concat(written), [fixture("album.bundle")], "unsigned")).toEqual([]);
    const [proof, key] = ["last.tlog-proof", "key.vkey"].map((name) => read(`../../tests/decision-log/${name}`)) as [string, string];
    expect(await describeProof(proof, key)).toBe("record 449 of log.example/wardgate is a clock, as of 2026-09-21T14:18:20.000Z");
  });

  it("of MQTT hands messages to their handlers, and relays what is allowed", async () => {
    await mqtt.load();
    const seen: string[] = [];
    const log = (name: string) => (topic: string, payload: Uint8Array): void => void seen.push(`${name} ${topic} ${payload.length}`);
    using handlers = onMqtt.handlersOf(new Map([["a/+", log("one")], ["a/#", log("all")], ["b", log("other")]]));
    const message = mqtt.encode({ kind: "publish", topic: "a/b", payload: "hello" }, 5);
    expect([onMqtt.receive(message, handlers), onMqtt.receive(message.subarray(0, 5), handlers)]).toEqual([message.length, 0]);
    expect(seen.sort()).toEqual(["all a/b 5", "one a/b 5"]);

    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    using pdp = await open(fixture("mqtt.bundle"), { trust: "unsigned" });
    const [client, broker] = [new Wire(), new Wire()];
    using _ = onMqtt.relay(pdp, { id: "ada", roles: ["device"] }, client, broker);
    const connect = mqtt.encode({ kind: "connect", version: 4, clientId: "c" }, 4);
    client.emit("data", connect);
    broker.emit("data", mqtt.encode({ kind: "connack" }, 4));
    vi.advanceTimersByTime(2000);
    client.emit("data", mqtt.encode({ kind: "publish", topic: "a" }, 4));
    client.emit("data", mqtt.encode({ kind: "publish", topic: "denied", retain: true }, 4));
    expect(broker.written).toEqual([connect, mqtt.encode({ kind: "publish", topic: "a" }, 4)]);
    client.emit("close");
    expect([client.isEnded, broker.isEnded, vi.getTimerCount()]).toEqual([true, true, 0]);
    vi.useRealTimers();
  });

  it("of rate limits answers, with fields and within the quota", async () => {
    const calls: string[] = [];
    const client = {
      eval: async (_: string, count: number, ...words: string[]) => (calls.push(`eval ${words.slice(0, count)}`), [0, 19, 600_000, 0, 9999, 1, 9]),
      evalsha: async () => Promise.reject(new Error(calls.length === 0 ? "NOSCRIPT No matching script." : "READONLY")),
    };
    const app = onLimits.limitedApp(onLimits.guardOn(client));
    const allowed = await app.request("/", { headers: { authorization: "ada" } });
    expect([allowed.status, allowed.headers.get("ratelimit")]).toEqual([200, expect.stringMatching(/^"burst";r=19;t=1;pk=:.*:, "daily";r=9999;t=1;pk=/)]);
    expect(calls).toEqual([expect.stringMatching(/^eval wg1:\{\w{32}\}:g60000000:burst,wg1:\{\w{32}\}:f86400000000:daily$/)]);
    const denied = await app.request("/", { headers: { authorization: "ada" } });
    expect([denied.status, denied.headers.get("retry-after"), await denied.json()]).toMatchObject([503, "1", { "violated-policies": ["daily"] }]);
  });

  it("charges the limits of policies with each decision", async () => {
    const { bundle } = JSON.parse(read("../../tests/limits/decisions.json")) as { readonly bundle: string };
    const guard = await policyLimits.limitedPdp(Buffer.from(bundle, "base64"), "unsigned", memory() as never);
    const viewer = { id: "sam", roles: ["user"], attr: { team: "blue", seat: 7, isBot: false, plan: "free" } };
    const ask = () => policyLimits.view(guard, viewer, { kind: "album", id: "a1", attr: { photos: 50 } });
    const answers = [await ask(), await ask(), await ask(), await ask()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[3]!.headers.get("retry-after")).toBe("28800");
  });

  it("of a pool decides", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: noon });
    const resources = Array.from({ length: 1000 }, (_, at) => ({ ...resource, attr: { owner: at < 10 ? "ada" : "bo" } }));
    expect(await editable(signed, releaseKey, resources)).toEqual(resources.slice(0, 10));
    vi.useRealTimers();
  });
});
