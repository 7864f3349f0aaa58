import { describe, expect, it } from "vitest";

import { readOptions } from "./options.ts";

function refused(options: unknown, error: new () => Error, message: string): void {
  expect(() => readOptions(options)).toThrow(error);
  expect(() => readOptions(options)).toThrow(message);
}

describe("options", () => {
  it("are required, and so is trust", () => {
    for (const nothing of [undefined, {}, { trust: undefined }]) {
      refused(nothing, TypeError, 'option `trust` is missing: give the keys that bundles are signed with, or `{ trust: "unsigned" }`');
      expect(() => readOptions(nothing)).toThrow(expect.objectContaining({ code: "no-trust" }) as Error);
    }
    refused(null, TypeError, "options must be an object with `trust`, found null");
    refused(null, TypeError, "found null");
    refused({}, TypeError, "option `trust` is missing");
  });

  it("distinguish a wrong kind of trust from a wrong value", () => {
    refused({ trust: 7 }, TypeError, 'option `trust` must be keys or "unsigned", found number');
    refused({ trust: "everyone" }, RangeError, 'must be keys or "unsigned", found another text');
  });

  it("refuse an unknown name, even with the value undefined", () => {
    refused({ trust: "unsigned", trusted: [] }, TypeError, "unknown option `trusted`");
    refused({ trust: "unsigned", cache: undefined }, TypeError, "unknown option `cache`");
  });

  it("never include inherited members", () => {
    refused(Object.create({ trust: "unsigned" }), TypeError, "option `trust` is missing");
  });

  it("take a clock, and accept only numbers from it", () => {
    expect(readOptions({ trust: "unsigned", clock: () => 7 }).clock()).toBe(7);
    refused({ trust: "unsigned", clock: 7 }, TypeError, "option `clock` must be a function, found number");
    const settings = readOptions({ trust: "unsigned", clock: () => "noon" });
    expect(() => settings.clock()).toThrow(new TypeError("the clock must return a number, found string"));
  });

  it("fall back to the clock of the host", () => {
    expect(Math.abs(readOptions({ trust: "unsigned" }).clock() - Date.now())).toBeLessThan(1000);
  });

  it("take an accessor module, and nothing similar", () => {
    const accessors = { format: 5, bundle: "00", names: [], decideRequest: () => 2 };
    expect(readOptions({ trust: "unsigned", accessors }).accessors).toBe(accessors);
    const check = (changes: unknown, error: new () => Error, message: string): void =>
      refused({ trust: "unsigned", accessors: changes }, error, message);
    check("accessors.js", TypeError, "option `accessors` must be a module, found string");
    check({}, TypeError, "option `accessors` must be a module that `wardgate compile --emit` wrote");
    check({ ...accessors, names: "owner" }, TypeError, "must be a module that");
    check({ ...accessors, format: 1 }, RangeError, "option `accessors` must have format 5, found 1: emit it again");
  });
});
