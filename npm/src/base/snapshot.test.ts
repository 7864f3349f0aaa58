import { describe, expect, it } from "vitest";

import { snapshot } from "./snapshot.ts";

describe("a snapshot", () => {
  it("equals its source, and does not change with it", () => {
    const inner = { list: [1, { two: 2 }] };
    const value = { id: "ada", roles: ["user"], attr: { inner, at: new Date(0), map: new Map([["k", inner]]) } };
    const copy = snapshot(value) as typeof value;
    expect(copy).toEqual(value);
    inner.list.push(3);
    value.roles.push("admin");
    value.attr.at.setTime(1);
    expect(copy.attr.inner.list).toEqual([1, { two: 2 }]);
    expect(copy.attr.map.get("k")).toEqual({ list: [1, { two: 2 }] });
    expect([copy.roles, copy.attr.at.getTime()]).toEqual([["user"], 0]);
  });

  it("keeps a member with the name of the prototype as a member", () => {
    const copy = snapshot(JSON.parse('{"__proto__": {"a": 1}}')) as object;
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(copy, "__proto__")?.value).toEqual({ a: 1 });
  });

  it("has the elements that a list has, whatever its iterator says", () => {
    class Liar extends Array<string> {
      override *[Symbol.iterator](): ArrayIterator<string> { yield "ada"; }
    }
    const copy = snapshot({ teams: new Liar("red", "blue"), none: new Liar() });
    expect(copy).toEqual({ teams: ["red", "blue"], none: [] });
    const endless = new Array(4_000_000_000);
    expect(snapshot(endless)).toBe(endless);
  });

  it("copies the elements of a set", () => {
    const [inner, set] = [{ a: [1] }, new Set<unknown>(["b", "a"])];
    set.add(inner).add(new Set([2]));
    const copy = snapshot({ set }) as { set: Set<unknown> };
    inner.a.push(2);
    set.add(3);
    expect([...copy.set]).toEqual(["b", "a", { a: [1] }, new Set([2])]);
  });

  it("leaves unusual values as they are, for the general path to refuse", () => {
    class Own {}
    const [own, set] = [new Own(), new WeakSet()];
    expect(snapshot([own, set, 1n])).toEqual([own, set, 1n]);
    expect((snapshot([own]) as unknown[])[0]).toBe(own);
  });

  it("ends for every source", () => {
    const self: unknown[] = [];
    self.push(self);
    expect(Array.isArray(snapshot(self))).toBe(true);
    let shared: unknown = [0];
    for (let level = 0; level < 60; level += 1) shared = [shared, shared];
    // A part that was not copied could change later.
    expect(() => snapshot(shared)).toThrow(RangeError);
  });
});
