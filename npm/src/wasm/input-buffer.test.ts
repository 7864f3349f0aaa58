// The input buffer of the module.

import { expect, it } from "vitest";

import { hash, hashMany } from "../pdp/hashing.ts";
import { viewing, openAlbum } from "../testing.ts";

it("is available with length 0, even on the first call", () => {
  expect(hashMany([])).toEqual([]);
});

it("is refused beyond the limit, and the module is unchanged", async () => {
  const pdp = await openAlbum();
  const message = new Uint8Array(2 ** 30 + 1);
  expect(() => hash(message)).toThrow(new RangeError("there is no room for 1073741825 bytes in the module"));
  expect(pdp.isAllowed(viewing())).toBe(true);
});
