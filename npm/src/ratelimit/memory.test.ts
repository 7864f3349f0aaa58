// The store in memory: together or not at all, bounded, and exact beside others.

import { describe, expect, it } from "vitest";

import { DemandReader, type Charge } from "./demand.ts";
import { memory, type MemoryOptions } from "./memory.ts";
import { charge, MINUTE } from "./testing-limits.ts";
import type { Action } from "./state.ts";

const START = 1_800_000_000_000_000;

function store(options: MemoryOptions = {}) {
  const clock = { now: START };
  const made = memory({ keys: 1000, now: () => clock.now, ...options });
  const reader = new DemandReader();
  const run = (action: Action, ...charges: Charge[]) => made.run(action, reader.read(charges));
  const waits = (...charges: Charge[]) => run("charge", ...charges).map(({ wait }) => wait);
  const left = (...charges: Charge[]) => run("look", ...charges).map(({ remaining }) => remaining);
  return { clock, made, run, waits, left };
}

describe("a check", () => {
  it("takes all costs or none", () => {
    const { run, waits, left } = store();
    const [wide, narrow] = [charge({ name: "wide" }), charge({ name: "narrow", quota: 2 })];
    expect([waits(wide, narrow), waits(wide, narrow)]).toEqual([[0, 0], [0, 0]]);
    for (let attempt = 0; attempt < 3; attempt += 1) expect(waits(wide, narrow)).toEqual([0, 30_000_000]);
    expect(left(wide, narrow)).toEqual([8, 0]);
    run("refund", wide, narrow);
    expect(left(wide, narrow)).toEqual([9, 1]);
    run("reset", wide);
    expect(left(wide, narrow)).toEqual([10, 1]);
    expect(waits({ ...narrow, cost: 3 })).toEqual([-1]);
  });

  it("is for a state of its own by name, key, algorithm and window", () => {
    const { waits, left } = store();
    const others: Charge[] = [
      charge({ quota: 1 }),
      charge({ quota: 1, name: "b" }),
      charge({ quota: 1, key: ["lee"] }),
      charge({ quota: 1, key: ["sa", "m"] }),
      charge({ quota: 1, key: ["sam", ""] }),
      charge({ quota: 1, key: [] }),
      charge({ quota: 1, window: 2 * MINUTE }),
      charge({ quota: 1, algorithm: "fixed" }),
      charge({ quota: 1, algorithm: "fixed", window: "month" }),
      charge({ quota: 1, algorithm: "sliding" }),
    ];
    for (const other of others) expect([waits(other), left(other)]).toEqual([[0], [0]]);
    for (const other of others) expect(left(other)).toEqual([0]);
    // Another quota is another view of the same state, and a string is its bytes.
    expect(left(charge({ quota: 5, algorithm: "fixed" }))).toEqual([4]);
    expect(left(charge({ quota: 1, key: [new TextEncoder().encode("sam")] }))).toEqual([0]);
  });

  it("forgets nothing while other names come and go", () => {
    const { waits, left } = store({ keys: 100_000 });
    for (let at = 0; at < 3000; at += 1) waits(charge({ name: `limit ${at}`, quota: 1 + (at % 7) }));
    for (let at = 0; at < 3000; at += 1) expect(left(charge({ name: `limit ${at}`, quota: 1 + (at % 7) }))).toEqual([at % 7]);
  });

  it("sees no time that goes back, nor one that is none", () => {
    const { clock, waits, left } = store();
    waits(charge({ cost: 10 }));
    for (const now of [START - 3_600_000_000, Number.NaN, -1]) {
      clock.now = now;
      expect(left(charge())).toEqual([0]);
    }
    clock.now = START + 6_000_000.5;
    expect(left(charge())).toEqual([1]);
  });

  it("with the clock of the process gives tokens back", () => {
    const made = memory();
    const demands = new DemandReader().read([charge({ quota: 1_000_000, window: 1_000_000, burst: 1 })]);
    expect(made.run("charge", demands)[0]!.wait).toBe(0);
    while (made.run("charge", demands)[0]!.wait !== 0);
    expect(made.fill().places).toBeGreaterThan(100_000);
  });
});

describe("a store that is full", () => {
  const key = (at: number): Charge => charge({ key: [String(at)], quota: 1 });

  it("refuses new keys and serves known ones", () => {
    const { clock, made, waits, left } = store({ keys: 100 });
    const allowed = Array.from({ length: 10_000 }, (_, at) => at).filter((at) => waits(key(at))[0] === 0);
    const { keys, places } = made.fill();
    expect([keys, places, made.counts]).toEqual([allowed.length, 152, { full: 10_000 - allowed.length, evicted: 0 }]);
    expect(allowed.length).toBeGreaterThan(100);
    for (const at of allowed) expect(left(key(at))).toEqual([0]);
    const wait = waits(key(10_001))[0]!;
    expect(wait).toBe(MINUTE);
    clock.now += wait;
    expect([waits(key(10_001)), made.fill().keys]).toEqual([[0], 1]);
  });

  it("gives up the state that is over first", () => {
    const { made, waits } = store({ keys: 100, whenFull: "evict" });
    for (let at = 0; at < 10_000; at += 1) expect(waits(key(at))).toEqual([0]);
    const { keys, places } = made.fill();
    expect(keys).toBeLessThanOrEqual(places);
    expect(made.counts).toEqual({ full: 0, evicted: 10_000 - keys });
  });

  it("refunds the limits of a check when there is no place for one", () => {
    const { waits, left } = store({ keys: 1 });
    const known = charge({ quota: 1000 });
    waits(known);
    for (let at = 0; at < 100; at += 1) waits(key(at));
    const before = left(known)[0]!;
    const outcomes = waits(known, key(1000), charge({ key: ["other"] }));
    expect([outcomes[0], outcomes[1]! > 0, left(known)]).toEqual([0, true, [before]]);
  });

  it("finds a place for nearly all keys that it was made for", () => {
    const { made, waits } = store({ keys: 50_000 });
    for (let at = 0; at < 50_000; at += 1) waits(key(at));
    // The secret decides which keys share a set. One key or two found none in 3 of 150 tables.
    expect(made.counts.full).toBeLessThan(5);
  });
});

it.each([
  [[charge({ name: "" })], RangeError],
  [[charge({ name: "n".repeat(129) })], RangeError],
  [[charge({ name: "\ud800" })], RangeError],
  [[charge({ name: 1 as never })], TypeError],
  [[charge({ key: "sam" as never })], TypeError],
  [[charge({ key: [1 as never] })], TypeError],
  [[charge({ key: ["\ud800"] })], RangeError],
  [[charge({ key: ["k".repeat(9000)] })], RangeError],
  [[charge({ key: ["k".repeat(5000), "k".repeat(5000)] })], RangeError],
  [[charge({ cost: -1 })], RangeError],
  [[charge({ cost: Number.NaN })], RangeError],
  [[charge({ cost: "1" as never })], TypeError],
  [[charge({ failure: "open" as never })], RangeError],
  [[charge({ mode: "off" as never })], RangeError],
  [[{ ...charge(), quotas: 1 } as never], TypeError],
  [[null as never], TypeError],
  [[charge(), charge({ cost: 2 })], RangeError],
  [[charge(), charge({ key: [Uint8Array.of(115, 97, 109)] })], RangeError],
  [Array.from({ length: 17 }, (_, at) => charge({ name: `n${at}` })), RangeError],
  ["api" as never, TypeError],
])("a check is refused: %j", (charges, kind) => {
  const { run } = store();
  expect(() => (Array.isArray(charges) ? run("charge", ...charges) : new DemandReader().read(charges))).toThrow(kind);
});

it("options are checked", () => {
  expect(() => memory({ keys: 2 ** 30 })).toThrow(RangeError);
  expect(() => memory({ keys: -1 })).toThrow(RangeError);
  expect(() => memory({ whenFull: "grow" as never })).toThrow(RangeError);
  expect(() => memory({ size: 1 } as never)).toThrow(TypeError);
  expect(() => memory({ now: 1 as never })).toThrow(TypeError);
});
