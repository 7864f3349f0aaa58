// The adapters with the limits of policies: fields on every answer, and problems where a limit denies.

import { readFileSync } from "node:fs";

import express from "express";
import { Hono } from "hono";
import { afterAll, describe, expect, it } from "vitest";

import * as forExpress from "./express.ts";
import * as forHono from "./hono.ts";
import { open } from "../pdp/open.ts";
import { Away, limiter, type Store } from "../ratelimit/ratelimit.ts";
import { addressOf } from "../testing.ts";
import type { Limits } from "./authorizer.ts";

const { bundle } = JSON.parse(readFileSync(new URL("../../../tests/limits/decisions.json", import.meta.url), "utf8")) as { readonly bundle: string };
const opened = () => open(Buffer.from(bundle, "base64"), { trust: "unsigned", limits: true });
const question = (role: string) => ({
  principal: () => ({ id: "sam", roles: [role], attr: { team: "blue", seat: 7, isBot: false, plan: "free", careful: false } }),
  action: "view",
  resource: { kind: "album", id: "a", attr: { photos: 50 } },
});

/** Returns an app that answers a request for an album, which a role may view. */
type App = (limits: Limits, role?: string) => Promise<() => Promise<Response>>;

const onHono: App = async (limits, role = "user") => {
  const app = new Hono();
  app.get("/album", forHono.authorize(await opened(), question(role), { limits }), () => new Response("the album"));
  return async () => app.request("/album");
};

const onExpress: App = async (limits, role = "user") => {
  const app = express();
  app.get("/album", forExpress.authorize(await opened(), question(role), { limits }), (_, response) => void response.send("the album"));
  const server = app.listen(0, "127.0.0.1");
  servers.push(server);
  const address = await addressOf(server);
  return () => fetch(`${address}/album`);
};

const servers: { close(): unknown }[] = [];
afterAll(() => servers.forEach((server) => server.close()));

/** A store that is always away. */
const away: Store = { run: () => Promise.reject(new Away("lost")) };

describe.each([["Hono", onHono], ["Express", onExpress]])("%s", (_, app) => {
  it("tells fields, and answers with a problem where a limit denies", async () => {
    const ask = await app(limiter(await opened()));
    const first = await ask();
    expect([first.status, await first.text()]).toEqual([200, "the album"]);
    expect(first.headers.get("ratelimit")).toMatch(/^"views";r=2;/);
    expect(first.headers.get("ratelimit-policy")).toMatch(/^"views";q=3;w=86400;pk=/);
    for (let more = 0; more < 2; more += 1) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "28800"]);
    expect(refused.headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(await refused.json()).toMatchObject({ status: 429, "violated-policies": ["views"] });
  });

  it("answers as without limits where the policies deny", async () => {
    const denied = await (await app(limiter(await opened()), "guest"))();
    expect([denied.status, await denied.text()]).toEqual([403, "Forbidden"]);
  });

  it("answers 503 where a limit denies since its store is away", async () => {
    const strict: Limits = {
      check: async () => ({ allowed: false, headers: { "Retry-After": "1" }, problem: { status: 503 } }),
    };
    const refused = await (await app(strict))();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    // The shares of this process stand in for limits that do not deny.
    expect((await (await app(limiter(await opened(), { store: away })))()).status).toBe(200);
  });

  it("takes only true for an allow", async () => {
    const lying = { check: async () => ({ allowed: "yes", headers: {}, problem: undefined }) } as never;
    expect((await (await app(lying))()).status).toBe(403);
  });
});
