import { describe, expect, it } from "vitest";

import { expected, nearest } from "./nearest.ts";

const known = ["trust", "minRevision", "maxBytes", "url"];

describe("a misspelt name", () => {
  it("has the nearest known one", () => {
    const check = (given: string, meant: string): void => expect(nearest(given, known)).toBe(meant);
    check("trust", "trust");
    check("turst", "trust");
    check("minRevison", "minRevision");
    check("min_revision", "minRevision");
    check("maxbytes", "maxBytes");
    check("ur", "url");
  });

  it("is not guessed if it is another word", () => {
    for (const other of ["", "port", "limits", "l".repeat(100)]) expect(nearest(other, known)).toBeUndefined();
  });

  it("is answered with what was meant, or with all known names", () => {
    expect([expected("turst", known), expected("port", known)]).toEqual([
      ", did you mean `trust`?", ", expected one of trust, minRevision, maxBytes, url",
    ]);
  });
});
