import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { isWellFormed } from "./text.ts";

const method = Object.getOwnPropertyDescriptor(String.prototype, "isWellFormed")!;
afterEach(() => void Object.defineProperty(String.prototype, "isWellFormed", method));

describe("a string", () => {
  let byPattern: typeof isWellFormed;
  beforeEach(async () => {
    vi.resetModules();
    delete (String.prototype as { isWellFormed?: unknown }).isWellFormed;
    byPattern = (await import("./text.ts")).isWellFormed;
  });

  const pieces = ["", "a", "\0", "é", "\ud83d", "\ude00", "\ud83d\ude00", "\ue000", "\uffff"];

  it.each(pieces.flatMap((one) => pieces.map((other) => [one + other])))("%j is well formed for every engine or for none", (text) => {
    const expected = !/[\ud800-\udfff]/.test(text.replaceAll("\ud83d\ude00", ""));
    expect(byPattern(text)).toBe(expected);
    Object.defineProperty(String.prototype, "isWellFormed", method);
    expect(isWellFormed(text)).toBe(expected);
  });
});
