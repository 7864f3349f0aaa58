// The evidence that a log in JavaScript writes: each decision is made again from its record. `cargo xtask parity` lets the native code
// decide generated ones again.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { album, atNoon, closed, editing, noon, onOne, unusual, viewing, withActions } from "../testing.ts";
import { open } from "../pdp/open.ts";
import type { OpenOptions } from "../pdp/options.ts";
import type { ActionRequest, AttributeValue, CheckRequest } from "../pdp/request-types.ts";
import { limiter } from "../ratelimit/limiter.ts";
import { memory } from "../ratelimit/memory.ts";
import { decisionLog, replay, segmentStart, type DecisionLogOptions, type ReplayedDecision } from "./log.ts";

/** A PDP whose decisions are recorded with evidence, and its log. */
async function recorded(bundle: Uint8Array = album, opening: Partial<OpenOptions> = {}, options: Partial<DecisionLogOptions> = {}) {
  const frames: Uint8Array[] = [segmentStart()];
  const log = decisionLog({ sink: (frame) => void frames.push(frame), evidence: "clear", flushMillis: 0, ...options });
  const pdp = await open(bundle, { ...atNoon, log, ...opening });
  const again = async (bundles = [bundle]): Promise<ReplayedDecision[]> => {
    await log.flush();
    const all: ReplayedDecision[] = [];
    for await (const decision of replay(Buffer.concat(frames), { bundles, trust: "unsigned" })) all.push(decision);
    return all;
  };
  return { pdp, log, again };
}

const formsOf = (all: readonly ReplayedDecision[]): (string | undefined)[] => all.map(({ record }) => record.evidence?.kind);
const kindsOf = (all: readonly ReplayedDecision[]): string[] => all.flatMap(({ outcomes }) => outcomes.map(({ kind }) => kind));
const limited = JSON.parse(readFileSync(new URL("../../../tests/limits/decisions.json", import.meta.url), "utf8")) as { bundle: string; cases: { request: CheckRequest }[] };

describe("evidence", () => {
  const requests = [viewing(), viewing({ principal: { roles: ["stranger", "user"] } }), editing({ owner: "ada" }), editing({ owner: "bo" }), editing({ owner: 7 }), editing(undefined)];

  it.each(onOne)("of %s is what the fast path read, and gives the answer again", async (_, decide) => {
    const { pdp, again } = await recorded();
    for (const request of requests) decide(pdp, () => structuredClone(request), { kind: "album", action: request.action });
    const all = await again();
    expect(all.length).toBe(requests.length);
    expect(new Set(formsOf(all))).toEqual(new Set(["read"]));
    expect(new Set(kindsOf(all))).toEqual(new Set(["same"]));
  });

  it("has no attribute that no rule reads, and no role that none tells from others", async () => {
    const { pdp, again } = await recorded();
    pdp.isAllowed(editing({ owner: "someone", secret: "of nobody's business" }));
    pdp.isAllowed(viewing({ principal: { roles: ["secret role"] } }));
    for (const { record } of await again()) expect(Buffer.from(record.evidence!.bytes).toString("latin1")).not.toContain("secret");
  });

  it("has a part for each action of `check`", async () => {
    const { pdp, again } = await recorded();
    pdp.check(withActions(editing({ owner: "ada" }), ["view", "edit", "drop"]));
    pdp.checkMany([withActions(viewing(), ["view"]), withActions(viewing(), ["edit"])]);
    const all = await again();
    expect([formsOf(all), all.map(({ outcomes }) => outcomes.length)]).toEqual([["read", "read", "read"], [3, 1, 1]]);
    expect(new Set(kindsOf(all))).toEqual(new Set(["same"]));
  });

  it("is the request where only the general path decides, for all actions of the decision", async () => {
    const { pdp, again } = await recorded();
    const odd = editing(Object.assign(Object.create({ inherited: 1 }) as object, { owner: "ada", at: new Date(noon), of: new Map([["a", new Set([1, null])]]) }));
    expect(pdp.isAllowed(odd)).toBe(true);
    pdp.check(withActions(odd, ["view", "edit"]));
    const all = await again();
    expect([formsOf(all), kindsOf(all)]).toEqual([["request", "request"], ["same", "same", "same"]]);
  });

  it("is the request where a part would be longer than 512 bytes", async () => {
    const { pdp, again } = await recorded();
    for (const owner of ["x".repeat(400), "x".repeat(500), "é".repeat(230), "é".repeat(250), "€".repeat(170)]) pdp.isAllowed(editing({ owner }));
    const all = await again();
    expect([formsOf(all), new Set(kindsOf(all))]).toEqual([["read", "request", "read", "request", "request"], new Set(["same"])]);
  });

  it("is the digest of a request that is longer than 16 KiB, whatever the order of its members", async () => {
    const { pdp, again } = await recorded();
    const long = "x".repeat(17_000);
    const names = ["a", "\u{ff5e}", "\u{1f600}", "ab", ""];
    const attr = (order: readonly string[]) => Object.fromEntries(order.map((name) => [name, name === "" ? { b: 1, a: [2] } : 1]));
    for (const order of [names, [...names].reverse()]) pdp.isAllowed(editing({ owner: long, ...attr(order) }));
    pdp.check(withActions(editing({ owner: `${long}y` }), ["view", "edit"]));
    const [one, other, third] = await again();
    for (const decision of [one, other, third]) {
      expect([decision!.record.isCut, decision!.record.evidence, decision!.outcomes[0]]).toMatchObject([false, { kind: "digest" }, { kind: "not-replayed", why: "digest" }]);
    }
    const [digest, same, different] = [one, other, third].map((decision) => decision!.record.evidence!.bytes);
    expect([digest!.length, same]).toEqual([32, digest]);
    expect(different).not.toEqual(digest);
  });

  it("is left out where it is longer than 1 MiB, and the record says so", async () => {
    const { pdp, again } = await recorded();
    pdp.isAllowed(editing({ owner: "x".repeat(2 ** 20) }));
    const [decision] = await again();
    expect([decision!.record.isCut, decision!.record.evidence, decision!.outcomes[0]]).toMatchObject([true, undefined, { kind: "not-replayed", why: "too-large" }]);
  });

  it("is left out where too many requests wait, and is there again after a flush", async () => {
    const { pdp, again } = await recorded(album, {}, { capacity: 16 });
    const long = editing({ owner: "x".repeat(6_000) });
    for (let at = 0; at < 3; at += 1) pdp.isAllowed(long);
    expect(formsOf(await again())).toEqual(["request", undefined, undefined]);
    pdp.isAllowed(long);
    expect(formsOf(await again()).at(-1)).toBe("request");
  });

  it("is that of the decision, whatever becomes of the request and the policies before the flush", async () => {
    const { pdp, again } = await recorded();
    const request = structuredClone(editing({ owner: "ada" }));
    expect(pdp.isAllowed(request)).toBe(true);
    (request.principal.roles as string[]).length = 0;
    (request.resource.attr as { owner: string }).owner = "bo";
    pdp.reload(closed);
    expect(pdp.isAllowed(request)).toBe(false);
    const all = await again([album, closed]);
    expect([kindsOf(all), all.map(({ outcomes }) => outcomes[0]!.answer)]).toEqual([["same", "same"], ["allowed", "denied"]]);
  });

  it("has the time that the decision read", async () => {
    let time = noon + 0.75;
    const { pdp, again } = await recorded(album, { clock: () => time });
    pdp.isAllowed(viewing());
    time += 1000;
    await null;
    pdp.check(withActions(viewing(), ["view"]));
    expect((await again()).map(({ record }) => record.time)).toEqual([noon, noon + 1000]);
  });

  it("changes no answer, and gives each of unusual attributes again", async () => {
    const [{ pdp, again }, plain] = [await recorded(unusual), await open(unusual, atNoon)];
    const values = ["ada", "", 0, -0, 1.5, null, true, [], ["ada"], {}, { x: { y: 1 } }, new Set(["ada"]), undefined, "€"];
    const actions = plain.actions("doc").slice(0, 40);
    const make = (value: AttributeValue | undefined, action: string): ActionRequest => ({
      principal: { id: "ada", roles: ["user", "other"], attr: { x: value, a: value, list: value } },
      resource: { kind: "doc", id: "d1", attr: { x: value, a: { b: value }, list: [value ?? null], owner: value } },
      action,
    });
    let count = 0;
    for (const value of values) {
      for (const action of [...actions, "view"]) {
        expect(pdp.isAllowed(make(value, action)), `${action} ${String(value)}`).toBe(plain.isAllowed(make(value, action)));
        count += 1;
      }
    }
    const all = await again();
    expect([all.length, new Set(kindsOf(all))]).toEqual([count, new Set(["same"])]);
  });

  it("of a limiter is the request as it was when it was decided", async () => {
    const { pdp, again } = await recorded(Buffer.from(limited.bundle, "base64"), { limits: true });
    const guard = limiter(pdp, { store: memory({ keys: 1000 }) });
    const { request } = limited.cases[0]!;
    const changing = structuredClone(request) as { -readonly [K in keyof CheckRequest]: CheckRequest[K] };
    const checking = guard.check(changing);
    changing.principal = { id: "eve", roles: [] };
    await checking;
    const all = await again();
    expect([new Set(formsOf(all)), new Set(kindsOf(all))]).toEqual([new Set(["request"]), new Set(["same"])]);
  });

  it("is refused in another form than it has", () => {
    expect(() => decisionLog({ sink: () => undefined, evidence: "committed" as never })).toThrow(
      new RangeError("option `evidence` must be one of absent, clear, found `committed`"),
    );
  });
});

