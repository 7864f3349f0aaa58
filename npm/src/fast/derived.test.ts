// Searches in lists that are hashed, and in those that are not.

import { describe, expect, it } from "vitest";

import { textSet } from "../base/hashed.ts";
import { hashLists, operands, readTest, testWord } from "./derived.ts";
import { FALSE, MISSING, NO_FRAME, TRUE } from "../wasm/frame.ts";

const MEMBER = 0;
const EXISTS = 1;
const ALL = 2;
const INTERSECTS = 12;

/** Returns the word of `operand in list`, or of another test. */
function word(list: unknown, operand: unknown, kind = MEMBER): number {
  const test = readTest(kind, [["", 2, 0]]);
  operands[0] = operand;
  return testWord(NO_FRAME, 1, test!, list);
}

describe("a list", () => {
  const long = (): unknown[] => Array.from({ length: 20 }, (_, at) => `e${at}`);

  it("is searched in the elements that it had when it was hashed", () => {
    const [list, other] = [long(), long()];
    hashLists({ list });
    for (const one of [list, other]) one[0] = "new";
    expect([word(list, "e0"), word(list, "new"), word(list, "e1")]).toEqual([TRUE, FALSE, TRUE]);
    expect([word(other, "e0"), word(other, "new"), word(other, "e1")]).toEqual([FALSE, TRUE, TRUE]);
    expect([word(list, "e0", EXISTS), word(list, "new", EXISTS)]).toEqual([TRUE, FALSE]);
    // The elements are compared one by one.
    expect([word(list, "e0", ALL), word(list, "new", ALL)]).toEqual([FALSE, FALSE]);
  });

  it("has the same words hashed and not", () => {
    const list = [...long(), 1, null, true, ""];
    const hashed = [...list];
    hashLists({ hashed });
    for (const operand of ["e3", "e33", "", 1, 1.5, null, true, false, undefined, {}, [], Number.NaN, "x".repeat(300)]) {
      for (const kind of [MEMBER, EXISTS]) expect(word(hashed, operand, kind), String(operand)).toBe(word(list, operand, kind));
    }
    expect(word(hashed, undefined)).toBe(MISSING);
  });

  it("is not hashed if it is short, too long or holds more than scalars", () => {
    for (const list of [["a"], [...long(), {}], [...long(), Number.NaN], Array.from({ length: 1025 }, () => "a")]) {
      const before = word(list, "a");
      hashLists({ list });
      list[0] = "b";
      expect([word(list, "b") === TRUE, word(list, "a")]).toEqual([list.length === 1, list.length === 1 ? FALSE : before]);
    }
  });

  it("may be a set", () => {
    const set = new Set(long());
    expect([word(set, "e3"), word(set, "e33"), word(new Set(), "a")]).toEqual([TRUE, FALSE, FALSE]);
    hashLists({ set });
    set.delete("e3");
    expect([word(set, "e3"), word(set, "e33")]).toEqual([TRUE, FALSE]);
  });
});

describe("a set of texts", () => {
  it("has the words of a list, with any number of elements", () => {
    for (const texts of [[], ["e3"], ["e3", ""], Array.from({ length: 1024 }, (_, at) => `e${at}`), Array.from({ length: 1025 }, (_, at) => `e${at}`)]) {
      const set = textSet(texts);
      for (const operand of ["e3", "e33", "", 1, null, true, undefined, {}, Number.NaN, "x".repeat(300)]) {
        for (const kind of [MEMBER, EXISTS, ALL]) expect(word(set, operand, kind), `${String(operand)} in ${texts.length}`).toBe(word(texts, operand, kind));
        expect(word(set, [operand], INTERSECTS)).toBe(word(texts, [operand], INTERSECTS));
        expect(word([operand], set, INTERSECTS)).toBe(word([operand], texts, INTERSECTS));
      }
    }
  });
});

describe("two lists", () => {
  const long = (from: number): unknown[] => Array.from({ length: 30 }, (_, at) => `e${from + at}`);
  const common = (left: unknown, right: unknown): number => word(left, right, INTERSECTS);

  it("have a common element or none, hashed or not", () => {
    const [one, other, none] = [long(0), long(29), long(30)];
    for (const hashed of [[], [one], [other], [one, other, none]]) {
      hashLists({ ...hashed });
      expect([common(one, other), common(other, one), common(one, none), common(none, one)]).toEqual([TRUE, TRUE, FALSE, FALSE]);
      expect([common(one, ["x", "e3"]), common(["x", "e3"], one), common([], one), common(one, new Set(["e0"]))]).toEqual([TRUE, TRUE, FALSE, TRUE]);
    }
    expect([common([1, null, true], [0, null]), common([1, "1"], [2, true]), common([0], [-0])]).toEqual([TRUE, FALSE, TRUE]);
  });

  it("are an error if one is no list", () => {
    for (const value of [undefined, null, "e0", 1, true]) expect([common(value, ["e0"]), common(["e0"], value)]).toEqual([MISSING, MISSING]);
  });

  it("are left to the general path if they are unusual or long", () => {
    for (const value of [[{}], [["e0"]], [Number.NaN], {}, Array.from({ length: 1025 }, () => "e0")]) {
      expect([common(value, ["e0"]), common(["e0"], value)]).toEqual([-1, -1]);
    }
    // 90 * (90 + 1) is within the bound, and 91 * (91 + 0) is not.
    const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `e${at}`);
    expect([common(["e0"], many(90)), common([], many(91))]).toEqual([TRUE, -1]);
  });
});
