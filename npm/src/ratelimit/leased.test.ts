// Leases: never beyond the quota, nearly all of it used, and few calls.

import { afterEach, describe, expect, it, vi } from "vitest";

import { compile } from "../compiler/compiler.ts";
import { open } from "../pdp/open.ts";
import { DemandReader, type Charge, type Demand } from "./demand.ts";
import { leased } from "./leased.ts";
import { limiter } from "./limiter.ts";
import { memory } from "./memory.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, type Store } from "./store.ts";
import { charge, MINUTE } from "./testing-limits.ts";

/** A store of several processes, whose answers come later. */
class Shared implements Store {
  calls = 0;
  isAway = false;
  readonly #memory = memory({ keys: 10_000 });

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    this.calls += 1;
    if (this.isAway) throw new Away("lost");
    return this.#memory.run(action, demands);
  }
}

const QUOTA = 5000;
/** A window so long that no token comes back in a test. */
const hot = (more: Partial<Charge> = {}): Charge => charge({ key: [], quota: QUOTA, window: 366 * 24 * 60 * MINUTE, ...more });

function processes(count: number, keys = 100) {
  const store = new Shared();
  const reader = new DemandReader();
  const all = Array.from({ length: count }, () => leased(store, { keys }));
  const run = async (which: number, action: Action, ...charges: Charge[]): Promise<readonly Outcome[]> => all[which]!.run(action, reader.read(charges));
  const admits = async (which: number, ...charges: Charge[]): Promise<boolean> => (await run(which, "charge", ...charges)).every(({ wait }) => wait === 0);
  const left = async (): Promise<number> => (await store.run("look", reader.read([hot()])))[0]!.remaining;
  return { store, all, run, admits, left };
}

/** Returns numbers that look like chance, and are the same in each run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

afterEach(() => vi.useRealTimers());

describe("processes with leases", () => {
  it.each(["gcra", "fixed", "sliding"] as const)("spend what they paid, and all of it, with %s", async (algorithm) => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const { admits } = processes(4);
    const random = chance(1);
    let allowed = 0;
    for (let at = 0; at < 2 * QUOTA; at += 1) allowed += (await admits(Math.floor(random() * 4), hot({ algorithm }))) ? 1 : 0;
    expect(allowed).toBe(QUOTA);
  });

  it("spend no more when all ask at once", async () => {
    const { admits } = processes(4);
    const all = await Promise.all(Array.from({ length: 3 * QUOTA }, (_, at) => admits(at % 4, hot({ algorithm: "fixed" }))));
    const allowed = all.filter((one) => one).length;
    expect(allowed).toBeLessThanOrEqual(QUOTA);
    expect(allowed).toBeGreaterThanOrEqual(QUOTA * 0.99);
  });

  it("stay within the quota with costs of all sizes", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const { run } = processes(3);
    const random = chance(2);
    let spent = 0;
    for (let at = 0; at < QUOTA; at += 1) {
      const cost = Math.floor(random() * 20);
      const [outcome] = await run(at % 3, "charge", hot({ cost }));
      if (outcome!.wait === 0) spent += cost;
    }
    expect(spent).toBeLessThanOrEqual(QUOTA);
    expect(spent).toBeGreaterThanOrEqual(QUOTA * 0.99);
  });

  it("seldom ask the store, and know what is left", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const { store, run } = processes(1);
    for (let used = 1; used <= 10_000; used += 1) {
      const [outcome] = await run(0, "charge", hot({ quota: 1_000_000 }));
      expect(outcome).toMatchObject({ wait: 0, remaining: 1_000_000 - used });
    }
    expect(store.calls).toBeLessThanOrEqual(100);
  });

  it("need no store while they have tokens", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const { store, admits } = processes(1);
    await admits(0, hot());
    await admits(0, hot());
    store.isAway = true;
    expect(await admits(0, hot())).toBe(true);
  });
});

describe("a lease", () => {
  it("goes back when the store is closed", async () => {
    const { all, admits, left } = processes(1);
    for (let at = 0; at < 5; at += 1) await admits(0, hot());
    expect(await left()).toBeLessThan(QUOTA - 5);
    await all[0]!.close();
    expect(await left()).toBe(QUOTA - 5);
    expect(await admits(0, hot())).toBe(true);
  });

  it("ends after a second, and goes back with the next check", async () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1), toFake: ["Date", "performance"] });
    const { store, all, admits, left } = processes(1);
    await admits(0, hot());
    await admits(0, hot());
    const before = store.calls;
    vi.advanceTimersByTime(999);
    expect([await admits(0, hot()), store.calls - before]).toEqual([true, 0]);
    vi.advanceTimersByTime(2);
    store.isAway = true;
    await expect(admits(0, hot())).rejects.toThrow(Away);
    store.isAway = false;
    // Tokens that could not be given back are lost, and no others.
    await admits(0, hot());
    await all[0]!.close();
    expect(await left()).toBeGreaterThanOrEqual(QUOTA - 4 - QUOTA / 16);
  });

  it("of a fixed window ends with it", async () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 0, 59, 500), toFake: ["Date", "performance"] });
    const { admits } = processes(2);
    const minute = hot({ algorithm: "fixed", window: MINUTE });
    for (let at = 0; at < 10; at += 1) await admits(0, minute);
    vi.advanceTimersByTime(501);
    let allowed = 0;
    for (let at = 0; at < 2 * QUOTA; at += 1) allowed += (await admits(at % 2, minute)) ? 1 : 0;
    expect(allowed).toBe(QUOTA);
  });

  it("has its tokens again where another limit refuses", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const { run, admits } = processes(1);
    for (let at = 0; at < 5; at += 1) await admits(0, hot());
    const small = charge({ name: "small", quota: 3, algorithm: "sliding" });
    let allowed = 0;
    for (let at = 0; at < 100; at += 1) allowed += (await admits(0, hot(), small)) ? 1 : 0;
    expect(allowed).toBe(3);
    expect((await run(0, "charge", hot()))[0]!.remaining).toBe(QUOTA - 5 - 3 - 1);
  });

  it("is for one quota, and a reset ends it", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    const { run, admits } = processes(1);
    for (let at = 0; at < 5; at += 1) await admits(0, hot({ algorithm: "fixed" }));
    // The smaller quota is used up in the store, tokens on lease included.
    expect(await admits(0, hot({ algorithm: "fixed", quota: 5 }))).toBe(false);
    await run(0, "reset", hot({ algorithm: "fixed" }));
    expect((await run(0, "charge", hot({ algorithm: "fixed" })))[0]!.remaining).toBe(QUOTA - 1);
  });

  it("is for as many keys as there is room for; others are exact", async () => {
    const { admits } = processes(1, 1);
    for (let key = 0; key < 100; key += 1) {
      const found: boolean[] = [];
      for (let at = 0; at < 3; at += 1) found.push(await admits(0, hot({ key: [String(key)], quota: 2 })));
      expect(found).toEqual([true, true, false]);
    }
  });
});

describe("a guard", () => {
  const document = (fields: string): string => `apiVersion: api.cerbos.dev/v1\nwardgateLimit: { resource: album, actions: [view], window: 365d, ${fields} }\n`;
  const policy = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: album\n  rules: [{ actions: [view], effect: EFFECT_ALLOW, roles: [user] }]\n";
  const request = { principal: { id: "sam", roles: ["user"] }, resource: { kind: "album", id: "a" }, action: "view" };
  const opened = async (...limits: string[]) => {
    const files = Object.fromEntries([policy, ...limits.map(document)].map((text, at) => [`${at}.yaml`, text]));
    const { bundle } = await compile(files);
    return open(bundle!, { trust: "unsigned", limits: true });
  };

  it("takes leases of limits that say so, and gives them back", async () => {
    const store = new Shared();
    const pdp = await opened(`name: hot, key: [], quota: ${QUOTA}, consistency: leased`);
    const guards = [1, 2, 3, 4].map(() => limiter(pdp, { store }));
    let allowed = 0;
    for (let at = 0; at < 400; at += 1) allowed += (await guards[at % 4]!.check(request)).allowed ? 1 : 0;
    expect(allowed).toBe(400);
    expect(store.calls).toBeLessThan(100);
    for (const guard of guards) await guard.close();
    const exact = limiter(pdp, { store, leases: 0 });
    expect((await exact.check(request)).limits[0]!.remaining).toBe(QUOTA - 401);
    const calls = store.calls;
    for (let at = 0; at < 10; at += 1) await exact.check(request);
    expect(store.calls - calls).toBe(10);
  });

  it("returns what another place refuses", async () => {
    const store = new Shared();
    const guard = limiter(await opened(`name: hot, key: [], quota: ${QUOTA}, consistency: leased`, "name: few, key: [P.id], quota: 2", "name: near, key: [P.id], quota: 9, consistency: local"), { store });
    const states = [];
    for (let at = 0; at < 5; at += 1) states.push((await guard.check(request)).limits.map(({ name, state, remaining }) => `${name} ${state} ${remaining}`).sort());
    expect(states.slice(0, 2).flat()).toEqual(["few charged 1", `hot charged ${QUOTA - 1}`, "near charged 8", "few charged 0", `hot charged ${QUOTA - 2}`, "near charged 7"]);
    expect(states[4]).toEqual(["few refused 0", expect.stringMatching(/^hot untouched /), "near untouched 7"]);
    await guard.close();
    expect((await limiter(await opened(`name: hot, key: [], quota: ${QUOTA}, consistency: leased`), { store, leases: 0 }).check(request)).limits[0]!.remaining).toBe(QUOTA - 3);
  });
});

it("options are checked", async () => {
  expect(() => leased({} as never)).toThrow(TypeError);
  expect(() => leased(memory({ keys: 8 }), { keys: -1 })).toThrow(RangeError);
  expect(() => leased(memory({ keys: 8 }), { room: 1 } as never)).toThrow(TypeError);
});
