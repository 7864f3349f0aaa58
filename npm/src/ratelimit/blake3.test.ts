// BLAKE3, compared with another implementation.

import { blake3 as other } from "@noble/hashes/blake3.js";
import { expect, it } from "vitest";

import { blake3 } from "./blake3.ts";

const bytes = Uint8Array.from({ length: 8192 }, (_, at) => at % 251);

it.each([0, 1, 2, 3, 4, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2048, 2049, 3072, 3073, 4097, 5120, 6145, 7168, 8191, 8192])("the hash of %i bytes is right", (length) => {
  const right = Buffer.from(other(bytes.subarray(0, length), { dkLen: 16 })).toString("hex");
  expect(blake3(bytes, length)).toBe(right);
});

it("the hash of nothing is the one of the paper", () => {
  expect(blake3(bytes, 0)).toBe("af1349b9f5f9a1a6a0404dea36dcc949");
});
