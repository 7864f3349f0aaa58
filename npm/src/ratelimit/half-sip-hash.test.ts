// HalfSipHash-1-3, compared with the plain algorithm, which gives the published digests of 2-4.

import { expect, it } from "vitest";

import { HalfSipHash } from "./half-sip-hash.ts";

const bytes = Uint8Array.from({ length: 64 }, (_, at) => at);
const words = new Int32Array(bytes.buffer);

/** Returns the digest of the first bytes with the key 0, 1, ..., 7. The length is a multiple of 4. */
function plain(length: number, rounds: number, last: number): string {
  const v = [words[0]!, words[1]! ^ 0xee, words[0]! ^ 0x6c796765, words[1]! ^ 0x74656462] as [number, number, number, number];
  const turned = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
  const mix = (count: number): void => {
    for (let round = 0; round < count; round += 1) {
      v[0] = (v[0] + v[1]) | 0;
      v[1] = turned(v[1], 5) ^ v[0];
      v[0] = turned(v[0], 16);
      v[2] = (v[2] + v[3]) | 0;
      v[3] = turned(v[3], 8) ^ v[2];
      v[0] = (v[0] + v[3]) | 0;
      v[3] = turned(v[3], 7) ^ v[0];
      v[2] = (v[2] + v[1]) | 0;
      v[1] = turned(v[1], 13) ^ v[2];
      v[2] = turned(v[2], 16);
    }
  };
  for (const word of [...words.subarray(0, length / 4), length << 24]) {
    v[3] ^= word;
    mix(rounds);
    v[0] ^= word;
  }
  v[2] ^= 0xee;
  mix(last);
  const first = v[1] ^ v[3];
  v[1] ^= 0xdd;
  mix(last);
  return hex(Int32Array.of(first, v[1] ^ v[3]));
}

function hex(digest: Int32Array): string {
  return Buffer.from(digest.buffer).toString("hex");
}

it.each([
  [0, "218d1f59b9b83cc8"],
  [4, "d5e78a175be52ea1"],
  [8, "edfee820bce4858c"],
  [12, "7bc71f9faef5c799"],
])("the plain algorithm hashes %i bytes as published", (length, expected) => {
  expect(plain(length, 2, 4)).toBe(expected);
});

it.each([0, 4, 8, 32, 60])("the hash of %i bytes is right", (length) => {
  const [hash, digest] = [new HalfSipHash(words[0]!, words[1]!), new Int32Array(2)];
  for (let repeated = 0; repeated < 2; repeated += 1) {
    hash.digest(words, length / 4, digest);
    expect(hex(digest)).toBe(plain(length, 1, 3));
  }
});

it("a text in two parts begins with the first", () => {
  const [hash, other, digest] = [new HalfSipHash(1, 2), new HalfSipHash(0, 0), new Int32Array(2)];
  other.copy(hash);
  hash.add(words, 3);
  other.add(words, 2);
  other.add(words.subarray(2), 1);
  const digests = [hash, other].map((one) => (one.digest(words, 4, digest), hex(digest)));
  expect(digests[0]).toBe(digests[1]);
});
