// Checks while all is well, and while the store is away.

import { describe, expect, it } from "vitest";

import type { Charge, Demand } from "./demand.ts";
import { limiter, type Checked, type LimiterOptions } from "./limiter.ts";
import { memory } from "./memory.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, type AwayReason, type Store } from "./store.ts";
import { charge, MINUTE } from "./testing-limits.ts";

const states = ({ limits }: Checked): string[] => limits.map(({ state }) => state);
const remaining = ({ limits }: Checked): number[] => limits.map((one) => one.remaining);

/** A store in memory that can be away, and the actions that it did. */
class Fake implements Store {
  away: AwayReason | undefined;
  readonly actions: Action[] = [];
  readonly #memory = memory({ keys: 100, now: () => 1_800_000_000_000_000 });

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    if (this.away !== undefined) throw new Away(this.away);
    this.actions.push(action);
    return this.#memory.run(action, demands);
  }
}

function guarded(options: LimiterOptions = {}) {
  const store = new Fake();
  return { store, guard: limiter({ store, ...options }) };
}

describe("a limiter", () => {
  it("tells what became of each limit", async () => {
    const { guard } = guarded();
    const two = [charge({ name: "wide", burst: 20 }), charge({ name: "narrow", quota: 1 })];
    expect(await guard.charge(two)).toEqual({
      allowed: true,
      unavailable: false,
      limits: [
        { name: "wide", key: ["sam"], quota: 10, burst: 20, window: MINUTE, admits: true, remaining: 19, resetMs: 6000, retryAfterMs: 0, state: "charged" },
        { name: "narrow", key: ["sam"], quota: 1, burst: 1, window: MINUTE, admits: true, remaining: 0, resetMs: 60_000, retryAfterMs: 0, state: "charged" },
      ],
    });
    const refused = await guard.charge(two);
    expect([refused.allowed, states(refused), remaining(refused)]).toEqual([false, ["untouched", "refused"], [19, 0]]);
    expect(refused.limits[1]!.retryAfterMs).toBe(60_000);
    expect((await guard.charge([charge({ cost: 11 })])).limits[0]).toMatchObject({ state: "refused", retryAfterMs: Infinity });
    expect(states(await guard.look(two))).toEqual(["untouched", "refused"]);
    expect(states(await guard.charge([charge({ cost: 0 })]))).toEqual(["untouched"]);
    expect(remaining(await guard.refund(two))).toEqual([20, 1]);
    expect(await guard.charge([])).toEqual({ allowed: true, unavailable: false, limits: [] });
  });

  it("lets a shadow refuse nothing, and charges it only with the others", async () => {
    const { guard, store } = guarded();
    const shadow = charge({ name: "shadow", quota: 2, mode: "shadow" });
    const all = [shadow, charge({ quota: 3 }), { ...shadow, name: "other" }];
    for (const left of [[1, 2, 1], [0, 1, 0], [0, 0, 0]]) {
      const found = await guard.charge(all);
      expect([found.allowed, states(found), remaining(found)]).toEqual([true, ["shadow", "charged", "shadow"], left]);
    }
    const found = await guard.charge(all);
    expect([found.allowed, found.limits.map(({ admits }) => admits)]).toEqual([false, [false, false, false]]);
    expect(store.actions.slice(-3)).toEqual(["charge", "look", "look"]);
    store.away = "lost";
    const denied = await guard.charge([{ ...shadow, failure: "deny" }]);
    expect([denied.allowed, denied.unavailable, states(denied)]).toEqual([true, false, ["shadow"]]);
  });

  it("is in memory unless a store is given", async () => {
    const guard = limiter();
    expect(remaining(await guard.charge([charge()]))).toEqual([9]);
    const [one, other] = await Promise.all([guard.charge([charge({ cost: 5 })]), guard.charge([charge({ cost: 5 })])]);
    expect([one.allowed, other.allowed]).toEqual([true, false]);
  });

  it("rejects charges that are none, and does not take them for an outage", async () => {
    const { guard } = guarded();
    await expect(guard.charge([charge({ quota: -1, failure: "allow" })])).rejects.toThrow(RangeError);
    await expect(guard.charge([charge({ key: ["\ud800"], failure: "allow" })])).rejects.toThrow(RangeError);
    await expect(guard.charge([charge({ key: [1 as never], failure: "allow" })])).rejects.toThrow(TypeError);
    expect(() => limiter({ share: 0 })).toThrow(RangeError);
    expect(() => limiter({ share: Number.NaN })).toThrow(RangeError);
    expect(() => limiter({ store: {} as never })).toThrow(TypeError);
    expect(() => limiter({ keys: 1 } as never)).toThrow(TypeError);
  });
});

describe("while the store is away", () => {
  const each = (more: Partial<Charge> = {}): Charge[] => (["local", "deny", "allow"] as const).map((failure) => charge({ name: failure, failure, ...more }));

  it("each limit holds as it says", async () => {
    const { guard, store } = guarded();
    store.away = "late";
    for (const [at, [one]] of each().map((one) => [one]).entries()) {
      const found = await guard.charge([one!]);
      expect([found.away, found.allowed, found.unavailable]).toEqual(["late", at !== 1, at === 1]);
      expect(states(found)).toEqual([at === 0 ? "charged" : "store-away"]);
    }
    // Where a limit denies, no other is charged.
    expect((await guard.charge(each())).allowed).toBe(false);
    expect(remaining(await guard.look([each()[0]!]))).toEqual([9]);
    store.away = undefined;
    expect((await guard.charge(each())).away).toBeUndefined();
  });

  it("a share is charged all the time, so that an outage does not begin with full keys", async () => {
    const { guard, store } = guarded({ share: 0.5 });
    for (let count = 0; count < 3; count += 1) await guard.charge([charge()]);
    store.away = "open";
    const answers = await Promise.all(Array.from({ length: 4 }, () => guard.charge([charge()])));
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, false, false]);
    store.away = undefined;
    expect(remaining(await guard.charge([charge({ cost: 7 })]))).toEqual([0]);
    await guard.reset([charge()]);
    store.away = "open";
    expect((await guard.charge([charge({ cost: 5 })])).allowed).toBe(true);
  });

  it("a share is at least one token, and nothing that was refused or only looked at", async () => {
    const { guard, store } = guarded({ share: 0.01 });
    await guard.look([charge()]);
    await guard.charge([charge({ cost: 11 })]);
    store.away = "open";
    expect((await guard.charge([charge({ cost: 2 })])).allowed).toBe(false);
    expect((await guard.charge([charge()])).allowed).toBe(true);
    expect((await guard.charge([charge()])).allowed).toBe(false);
  });

  it("a limit without such a share denies", async () => {
    const { guard, store } = guarded({ share: 0.01 });
    store.away = "open";
    const long = charge({ quota: 1, window: 8192, burst: 2 ** 32 });
    expect((await guard.charge([long])).allowed).toBe(true);
    const longest = charge({ name: "b", quota: 1000, window: 366 * 86_400_000_000, burst: 1000 });
    expect((await guard.charge([longest])).unavailable).toBe(false);
  });

  it("a store that throws or says too little is away too", async () => {
    for (const run of [() => [], () => Promise.resolve([]), () => Promise.reject(new Error("x")), (): never => { throw new Error("x"); }]) {
      const found = await limiter({ store: { run } }).charge([charge({ failure: "deny" })]);
      expect([found.allowed, found.unavailable]).toEqual([false, true]);
    }
  });
});
