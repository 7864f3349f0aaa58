// The room that the module gives to bytes.

import { expect, it } from "vitest";

import { hash, hashMany } from "../pdp/hashing.ts";
import { viewing, openAlbum } from "../testing.ts";

it("is there for nothing too, even if nobody has asked for any before", () => {
  expect(hashMany([])).toEqual([]);
});

it("is refused where there is none, and the module stays as it is", async () => {
  const pdp = await openAlbum();
  const message = new Uint8Array(2 ** 30 + 1);
  expect(() => hash(message)).toThrow(new RangeError("there is no room for 1073741825 bytes in the module"));
  expect(pdp.isAllowed(viewing())).toBe(true);
});
