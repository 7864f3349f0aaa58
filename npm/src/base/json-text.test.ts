// Values as JSON: the text, and the refusal of values that JSON would change.

import { describe, expect, it } from "vitest";

import { jsonOf } from "./json-text.ts";

/** Returns nested lists. */
function nested(depth: number): unknown {
  return Array.from({ length: depth }).reduce((inner) => [inner], 1);
}

describe("jsonOf", () => {
  it("writes values of JSON as JSON.stringify does", () => {
    const value = { a: [1, -0.5, 1e300, "\u2028\"\n", true, null, {}], "": {}, é: { b: [] } };
    expect(jsonOf(value, "it")).toBe(JSON.stringify(value));
  });

  it("writes Maps as objects and Dates as text, and calls no toJSON", () => {
    const value = new Map<string, unknown>([["at", new Date(0)], ["map", new Map([["a", 1]])]]);
    expect(jsonOf(value, "it")).toBe('{"at":"1970-01-01T00:00:00.000Z","map":{"a":1}}');
    const sly = Object.defineProperty({ a: 1 }, "toJSON", { value: () => 2 });
    expect(jsonOf(sly, "it")).toBe('{"a":1}');
  });

  const wrong: readonly (readonly [unknown, Error])[] = [
    [1, new TypeError("it must be an object, found number")],
    [[], new TypeError("it must be an object, found array")],
    [new Date(), new TypeError("it must be an object, found Date")],
    [{ a: undefined }, new TypeError("it.a must be a value of JSON, found undefined")],
    [{ a: [1n] }, new TypeError("it.a[0] must be a value of JSON, found bigint")],
    [{ a: () => 1 }, new TypeError("it.a must be a value of JSON, found function")],
    [{ a: new Set() }, new TypeError("it.a must be a value of JSON, found Set")],
    [{ a: [, 1] }, new TypeError("it.a[0] must be a value of JSON, found undefined")],
    [{ a: Infinity }, new RangeError("it.a must be a finite number, found Infinity")],
    [{ a: new Date(NaN) }, new RangeError("it.a must be a time, found an invalid date")],
    [{ a: "\udc00" }, new RangeError("it.a holds text that is not Unicode")],
    [{ "\udc00": 1 }, new RangeError("it holds text that is not Unicode")],
    [new Map([[1, 1]]), new TypeError("a name in it must be a string, found number")],
  ];

  it.each(wrong)("refuses %o", (value, error) => {
    expect(() => jsonOf(value, "it")).toThrow(error);
  });

  it("has bounds", () => {
    expect(jsonOf({ a: nested(63) }, "it")).toHaveLength(6 + 127);
    expect(() => jsonOf({ a: nested(64) }, "it")).toThrow("is nested more than 64 levels deep");
    const circle: Record<string, unknown> = {};
    circle["a"] = circle;
    expect(() => jsonOf(circle, "it")).toThrow("is nested more than 64 levels deep");
    const shared = Array.from({ length: 60 }).reduce((inner) => [inner, inner], 1);
    expect(() => jsonOf({ shared }, "it")).toThrow("comes after 100000 values, which is the most");
  });
});
