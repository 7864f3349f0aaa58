// The arithmetic, on the vectors that every implementation shares.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { boundOf, Rule, type Terms } from "./rule.ts";
import { State, type Action } from "./state.ts";

type Step = readonly [time: number, action: Action, cost: number, wait: number, remaining: number, reset: number];

interface Sequence {
  readonly name: string;
  readonly rule: Terms;
  readonly steps: readonly Step[];
}

const read = (name: string): any => JSON.parse(readFileSync(new URL(`../../../tests/limits/${name}.json`, import.meta.url), "utf8"));

describe.each(["by-hand", "gcra", "fixed", "sliding"])("the vectors of %s", (file) => {
  const { sequences } = read(file) as { sequences: readonly Sequence[] };

  it("are many", () => {
    expect(sequences.length).toBeGreaterThan(file === "by-hand" ? 20 : 150);
  });

  it("are equal", () => {
    for (const { name, rule: terms, steps } of sequences) {
      const [rule, state] = [new Rule(terms), new State()];
      for (const [time, action, cost, ...expected] of steps) {
        const { wait, remaining, reset } = rule.apply(state, time, action, cost);
        expect([name, time, wait, remaining, reset]).toEqual([name, time, ...expected]);
      }
    }
  });
});

describe("a rule", () => {
  it("has the bounds of the file", () => {
    for (const { rule, error } of read("rules").rules as readonly { rule: Terms; error: string | null }[]) {
      expect([rule, boundOf(rule) ?? null]).toEqual([rule, error]);
      if (error === null) expect(new Rule(rule).quota).toBe(rule.quota);
      else expect(() => new Rule(rule)).toThrow(RangeError);
    }
  });

  it.each([
    [{ quota: Number.NaN, window: 1 }, RangeError],
    [{ quota: 1.5, window: 1 }, RangeError],
    [{ quota: -1, window: 1 }, RangeError],
    [{ quota: Infinity, window: 1 }, RangeError],
    [{ quota: "1", window: 1 }, TypeError],
    [{ quota: 1 }, TypeError],
    [{ quota: 1, window: "year" }, TypeError],
    [{ quota: 1, window: 1, algorithm: "bucket" }, RangeError],
    [{ quota: 1, window: 1, algorithm: "fixed", burst: 1 }, RangeError],
  ])("is refused: %j", (terms, kind) => {
    expect(() => new Rule(terms as Terms)).toThrow(kind);
  });
});
