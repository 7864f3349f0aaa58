// Decisions with the limits of policies: the answers of Rust, and what a guard promises.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { open } from "../pdp/open.ts";
import { ofCode } from "../testing.ts";
import type { Demand } from "./demand.ts";
import { fields, problem, response } from "./fields.ts";
import { digestOf } from "./key.ts";
import { limiter } from "./limiter.ts";
import { memory } from "./memory.ts";
import type { Guarded, MetLimit } from "./policy-guard.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, type Store } from "./store.ts";
import type { Decision } from "../pdp/decision.ts";

interface Case {
  readonly request: Parameters<Awaited<ReturnType<typeof open>>["check"]>[0];
  readonly expected: readonly { readonly action: string; readonly effect: string; readonly reason: unknown; readonly limits: readonly object[] }[];
}

const file = JSON.parse(readFileSync(new URL("../../../tests/limits/decisions.json", import.meta.url), "utf8")) as { readonly bundle: string; readonly cases: readonly Case[] };
const bundle = Buffer.from(file.bundle, "base64");
const opened = () => open(bundle, { trust: "unsigned", limits: true });

/** A store in memory that can be away, and the actions that it did. */
class Switched implements Store {
  isAway = false;
  readonly actions: Action[] = [];
  readonly #memory = memory({ keys: 1000 });

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    this.actions.push(action);
    if (this.isAway) throw new Away("lost");
    return this.#memory.run(action, demands);
  }
}

const me = { id: "sam", roles: ["user"], attr: { team: "blue", seat: 7, isBot: false, plan: "free", careful: false } };
const album = { kind: "album", id: "a", attr: { photos: 50, pages: 1, shelf: "s", most: 5, flag: false } };
const states = ({ limits }: Guarded<unknown>): string[] => limits.map(({ name, state }) => `${name} ${state}`);

describe("a limiter of a PDP", () => {
  it.each([["memory", () => memory({ keys: 1000 })], ["a store that answers later", () => new Switched()]])("answers like Rust, with %s", async (_, store) => {
    const guard = limiter(await opened(), { store: store() });
    expect(file.cases.length).toBeGreaterThan(20);
    for (const [at, { request, expected }] of file.cases.entries()) {
      const found = await guard.check(request);
      expect({ at, answer: answerOf(found) }).toEqual({ at, answer: expected });
      expect(found.allowed).toBe(expected.every(({ effect }) => effect === "allow"));
    }
  });

  it("decides about one action, and tells fields and problems", async () => {
    const guard = limiter(await opened());
    const request = { principal: me, resource: album, action: "view" };
    const first = await guard.check(request);
    expect([first.allowed, states(first)]).toEqual([true, ["tries shadow", "views charged", "whole charged"]]);
    expect(first.headers).toEqual(fields(first));
    expect(first.headers["RateLimit"]).toMatch(/^"views";r=2;t=28800;pk=:.{24}:, "whole";r=49;t=\d+;pk=:.{24}:$/);
    expect([problem(first), response(first)]).toEqual([undefined, undefined]);
    await guard.check(request);
    await guard.check(request);
    const refused = await guard.check(request);
    expect([refused.allowed, refused.unavailable, states(refused)]).toEqual([false, false, ["tries shadow", "views refused", "whole untouched"]]);
    expect(refused.decision.actions["view"]).toMatchObject({ effect: "deny", reason: { kind: "limited", limit: "views" } });
    expect(refused.headers["Retry-After"]).toBe("28800");
    expect(problem(refused)).toMatchObject({ status: 429, "violated-policies": ["views"] });
    expect(response(refused)!.status).toBe(429);
  });

  it("tells no problem where the policies deny", async () => {
    const guard = limiter(await opened());
    const denied = await guard.check({ principal: { ...me, roles: ["guest"] }, resource: album, action: "view" });
    expect([denied.allowed, states(denied), problem(denied)]).toEqual([false, ["tries shadow"], undefined]);
    const failed = await guard.check({ principal: { ...me, attr: {} }, resource: album, action: "view" });
    expect(failed.decision.actions["view"]!.reason).toEqual({ kind: "limit-error", limit: "views" });
    expect(failed.limits.find(({ name }) => name === "views")).toMatchObject({ state: "failed", message: "`P.attr.team`: no such key: team" });
    expect(problem(failed)).toBeUndefined();
  });

  it("does what each limit says while its store is away, and asks the memory of the process first", async () => {
    const store = new Switched();
    const guard = limiter(await opened(), { store });
    const request = { principal: me, resource: album, action: "edit" };
    expect(states(await guard.check(request))).toEqual(["burst charged", "near charged", "slow charged", "tries shadow"]);
    store.isAway = true;
    // Shares of the quotas hold, which were charged all the time.
    expect(states(await guard.check(request))).toEqual(["burst charged", "near charged", "slow charged", "tries shadow"]);
    const refused = await guard.check(request);
    expect(states(refused)).toEqual(["burst untouched", "near untouched", "slow refused", "tries shadow"]);
    // What the memory had taken was given back.
    expect(refused.limits.find(({ name }) => name === "near")!.remaining).toBe(2);
  });

  it("reads a request once", async () => {
    const guard = limiter(await opened());
    let reads = 0;
    const principal = Object.defineProperty({ roles: ["user"], attr: me.attr }, "id", { enumerable: true, get: () => `sam${(reads += 1)}` }) as typeof me;
    const { limits } = await guard.check({ principal, resource: album, actions: ["view"] });
    expect([reads, digestOf(limits[0]!.key)]).toEqual([1, digestOf([new TextEncoder().encode("ssam1")])]);
  });
});

describe("a PDP with limits", () => {
  it("is refused where nothing charges them", async () => {
    const refused = { message: expect.stringContaining("rate limits, which this host does not enforce") as string };
    await expect(open(bundle, { trust: "unsigned" })).rejects.toMatchObject(refused);
    await expect(open(bundle, { trust: "unsigned", limits: false })).rejects.toMatchObject(refused);
    await expect(open(bundle, { trust: "unsigned", limits: 1 as never })).rejects.toThrow(TypeError);
    const plain = await open(readFileSync(new URL("../../fixtures/album.bundle", import.meta.url)), { trust: "unsigned" });
    expect(() => plain.reload(bundle)).toThrow(expect.objectContaining(refused) as Error);
    await expect(limiter(plain).check({ principal: me, resource: album, action: "view" })).rejects.toThrow("opened with the option `limits: true`");
  });

  it("decides for its limiter only", async () => {
    const pdp = await opened();
    const request = { principal: me, resource: album, action: "view" };
    const ways = [
      () => pdp.isAllowed(request),
      () => pdp.isAllowedMany([]),
      () => pdp.filter({ principal: me, action: "view", resources: [] }),
      () => pdp.for(me),
      () => pdp.prepare({ kind: "album", action: "view" } as never),
      () => pdp.check({ principal: me, resource: album, actions: ["view"] }),
      () => pdp.checkMany([]),
      () => pdp.decisionBytes({ principal: me, resource: album, actions: ["view"] }),
    ];
    for (const way of ways) expect(way).toThrow(ofCode("limits"));
    expect(pdp.explain(request).decision.actions["view"]!.effect).toBe("allow");
    pdp.reload(bundle);
    expect((await limiter(pdp).check(request)).allowed).toBe(true);
  });

  it("may have none", async () => {
    const pdp = await open(readFileSync(new URL("../../fixtures/album.bundle", import.meta.url)), { trust: "unsigned", limits: true });
    const { allowed, limits } = await limiter(pdp).check({ principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id: "a1" }, action: "view" });
    expect([allowed, limits]).toEqual([true, []]);
  });
});

/** Returns an answer as the file has it. */
function answerOf({ decision, limits }: Guarded<Decision>): unknown {
  return Object.entries(decision.actions).map(([action, { effect, reason }]) => ({
    action,
    effect,
    reason: [reason.kind, "rule" in reason ? reason.rule : "limit" in reason ? reason.limit : null],
    limits: limits.filter((limit) => limit.action === action).map(limitOf),
  }));
}

function limitOf({ name, isShadow, key, quota, window, cost, remaining, state, admits, charged, retryAfterMs }: MetLimit): unknown {
  const isKnown = state !== "failed";
  const isAsked = isKnown && state !== "unasked";
  const refused = retryAfterMs === Infinity ? "never" : "refused";
  return {
    name,
    shadow: isShadow,
    key: isKnown ? digestOf(key) : null,
    quota,
    window: window === "month" ? null : window,
    cost,
    remaining: isAsked ? remaining : null,
state: isKnown ? (admits ? (charged ? "charged" : "spared") : refused) : "failed",
  };
}
