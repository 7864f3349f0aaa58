// Sets of texts: what they hold, what they refuse, and that a decision by one is that by a list.

import { describe, expect, it } from "vitest";

import { hashedOf, textSet } from "./hashed.ts";
import { openSync } from "../index.ts";
import { atNoon, unusual } from "../testing.ts";

/** Returns a list with all members of another, even those that are hidden. */
function withMembersOf(list: object): unknown {
  return Object.defineProperties(["eve"], Object.getOwnPropertyDescriptors(list) as PropertyDescriptorMap);
}

describe("a set of texts", () => {
  it("is a frozen list with each text once", () => {
    const set = textSet(new Set(["b", "a", "b"]).values());
    expect([set, textSet(["b", "a", "b"]), textSet([])]).toEqual([["b", "a"], ["b", "a"], []]);
    expect([Array.isArray(set), Object.isFrozen(set), JSON.stringify(set), Object.keys(set)]).toEqual([true, true, '["b","a"]', ["0", "1"]]);
  });

  it("refuses what is no iterable of strings", () => {
    const refused: [unknown, string][] = [
      [undefined, "expected an iterable of strings, found undefined"],
      [null, "expected an iterable of strings, found null"],
      ["ada", "expected an iterable of strings, found string"],
      [{ length: 1, 0: "ada" }, "expected an iterable of strings, found object"],
      [["ada", 7], "expected a string in a set of texts, found number"],
      [[["ada"]], "expected a string in a set of texts, found array"],
    ];
    for (const [texts, message] of refused) expect(() => textSet(texts as string[]), message).toThrow(new TypeError(message));
  });

  it("lends its hash to no other object", () => {
    const set = textSet(["ada"]);
    const others = [[...set], structuredClone(set), new Proxy(set, {}), Object.create(set), withMembersOf(set)];
    expect([hashedOf(set)?.list, ...others.map(hashedOf)]).toEqual([set, ...others.map(() => undefined)]);
    for (const value of [undefined, null, "ada", 7, {}, [], new Set()]) expect(hashedOf(value)).toBeUndefined();
  });

  it("is decided about as a list is, on every path", () => {
    const pdp = openSync(unusual, atNoon);
    const principal = { id: "ada", roles: ["user"] };
    for (const texts of [["ada"], ["bob", "ada", "eve"], ["eve"], [], Array.from({ length: 2000 }, (_, at) => (at === 1999 ? "ada" : `e${at}`))]) {
      const [usual, hashed] = [texts, textSet(texts)].map((x) => {
        const resource = { kind: "thing", id: "t", attr: { x } };
        const { actions } = pdp.check({ principal, actions: ["member", "listed", "size", "holder"], resource });
        return [pdp.isAllowed({ principal, action: "member", resource }), pdp.for({ ...principal, attr: { x } }).isAllowed("listed", resource), actions];
      });
      expect(hashed).toEqual(usual);
      expect(hashed![0]).toBe(texts.includes("ada"));
    }
  });
});
