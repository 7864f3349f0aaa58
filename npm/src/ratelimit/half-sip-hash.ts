// HalfSipHash-1-3 with 64 bits of output over whole words: SipHash for hosts whose integers have 32 bits.
//
// With a random key, nobody who does not see digests can choose texts with equal ones. The number of rounds
// is the one of hash tables in Linux, and of SipHash in those of Rust.

/** A hash of words, in the middle of its text. */
export class HalfSipHash {
  v0: number;
  v1: number;
  v2: number;
  v3: number;

  constructor(key0: number, key1: number) {
    this.v0 = key0 | 0;
    this.v1 = (key1 ^ 0xee) | 0;
    this.v2 = key0 ^ 0x6c796765;
    this.v3 = key1 ^ 0x74656462;
  }

  /** Takes the state of another hash. */
  copy(other: HalfSipHash): void {
    this.v0 = other.v0;
    this.v1 = other.v1;
    this.v2 = other.v2;
    this.v3 = other.v3;
  }

  /** Adds the first words of an array. */
  add(words: Int32Array, count: number): void {
    let { v0, v1, v2, v3 } = this;
    for (let at = 0; at < count; at += 1) {
      const word = words[at]!;
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    this.v0 = v0;
    this.v1 = v1;
    this.v2 = v2;
    this.v3 = v3;
  }

  /**
   * Writes the digest of the text with some words at its end, and leaves this as it was. The length is what
   * was added last: it tells texts apart that end in words of zero.
   */
  digest(words: Int32Array, count: number, digest: Int32Array): void {
    let { v0, v1, v2, v3 } = this;
    // The round is written again: with calls of `add`, whose numbers go through memory, it took twice as long.
    for (let at = 0; at < count + 7; at += 1) {
      const word = at < count ? words[at]! : at === count ? count << 26 : 0;
      if (at === count + 1) v2 ^= 0xee;
      if (at === count + 4) {
        digest[0] = v1 ^ v3;
        v1 ^= 0xdd;
      }
      v3 ^= word;
      v0 = (v0 + v1) | 0;
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
      v2 = (v2 + v3) | 0;
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
      v0 = (((v0 << 16) | (v0 >>> 16)) + v3) | 0;
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
      v2 = (v2 << 16) | (v2 >>> 16);
      v0 ^= word;
    }
    digest[1] = v1 ^ v3;
  }
}
