import { describe, expect, it } from "vitest";

import { ARENA_START, BROKEN, frameAt, MISSING, type DecideCalls, type Frame } from "../wasm/frame.ts";
import { LAST, WITH_VALUE } from "./read-sites.ts";
import { brokenWord, constantWord, hold } from "./values.ts";

const never = (): number => 2;
const calls: DecideCalls = { decide: never, decideValues: never, decideClasses: never, decideColumns: never, decideInOrder: never, verdict: never, grants: never };

function frame(): Frame {
  return frameAt(new ArrayBuffer(1024 + 65_536), 0, calls);
}

/** Returns the bytes of a value in the arena; `undefined` if it is left to the general path. */
function bytesOf(value: unknown): number[] | undefined {
  const into = frame();
  if (!hold(into, 5, value, WITH_VALUE)) return undefined;
  expect(into.spans[5]).toBe(into.used === ARENA_START ? 0 : ARENA_START);
  return [...into.arena.slice(ARENA_START, into.used)];
}

describe("a value in the arena", () => {
  it("is a tag and what belongs to it", () => {
    expect(bytesOf("aé")).toEqual([4, 3, 0, 0, 0, 0x61, 0xc3, 0xa9]);
    expect(bytesOf([null, false, true])).toEqual([5, 3, 0, 0, 0, 0, 1, 2]);
    expect(bytesOf([1])).toEqual([5, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    expect(bytesOf({ k: "v", gone: undefined })).toEqual([6, 1, 0, 0, 0, 1, 0, 0, 0, 0x6b, 4, 1, 0, 0, 0, 0x76]);
  });

  it("is not written for a scalar, whose word is complete", () => {
    for (const value of [undefined, null, true, 7]) expect(bytesOf(value)).toEqual([]);
  });

  it("keeps the sign of zero", () => {
    expect(bytesOf([-0])?.at(-1)).toBe(0x80);
  });

  it("contains long text, and text joined from pieces", () => {
    const long = `${"x".repeat(1000)}\u{1f5dd}`;
    expect(bytesOf(long)?.length).toBe(5 + 1004);
    expect(bytesOf("ab".repeat(3) + String(1))).toEqual([4, 7, 0, 0, 0, 0x61, 0x62, 0x61, 0x62, 0x61, 0x62, 0x31]);
  });

  it("is left to the general path if that examines it closely", () => {
    const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 1);
    const unusual = [Number.NaN, [Infinity], new Date(0), new Map(), [undefined], ["\ud800"], { "\udc00": 1 }, [1n]];
    for (const value of [...unusual, deep, [() => 1], new (class Own {})(), "x".repeat(70_000)]) {
      expect(bytesOf(typeof value === "number" ? [value] : value)).toBeUndefined();
    }
  });

  it("does not write into a frame that is dead", () => {
    const dead = { ...frame(), arena: new Uint8Array() };
    expect(hold(dead, 5, "text", WITH_VALUE)).toBe(false);
  });

  it("is written only if the fast path needs it", () => {
    for (const value of [[Number.NaN], { k: 1 }]) {
      const into = frame();
      expect([hold(into, 5, value, 0), into.spans[5], into.used]).toEqual([true, 0, ARENA_START]);
    }
  });
});

describe("a path that ends too early", () => {
  it("breaks, or misses its last member in a scalar", () => {
    const check = (value: unknown, next: number, word: number): void => expect(brokenWord(value, next)).toBe(word);
    check(undefined, LAST, BROKEN);
    check([], LAST, BROKEN);
    for (const scalar of [null, false, 0, "text"]) {
      check(scalar, LAST, MISSING);
      check(scalar, 0, BROKEN);
    }
    for (const unusual of [Number.NaN, 1n, new Date(0), new Map(), () => 1]) check(unusual, LAST, -1);
  });
});

describe("a constant", () => {
  it("is found by its text, in few and in many", () => {
    const texts = ["draft", "final"];
    const words = [20, 21];
    const map = new Map([["draft", 20], ["final", 21]]);
    for (const constants of [{ texts, words, map: null }, { texts: [], words: [], map }]) {
      const found = ["draft", "final", "dra" + "ft", "other"].map((text) => constantWord(constants, text));
      expect(found).toEqual([20, 21, 20, 0]);
    }
    expect(constantWord(null, "draft")).toBe(0);
  });
});
