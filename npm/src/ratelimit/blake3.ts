// BLAKE3, as its paper defines it: hashes of at most 8 KiB, of which 128 bits are returned.
//
// The package that decides has it in its module, which limits do not load. A general library was tried:
// for the 30 bytes of a usual key it took ten times as long, and it has a hundred times the code.

/** Returns the first 128 bits of the hash of the first bytes of an array, in hexadecimal. */
export function blake3(bytes: Uint8Array, length: number): string {
  const chunks = Math.max(Math.ceil(length / CHUNK), 1);
  let text = "";
  for (const word of tree(bytes, 0, chunks, length, ROOT).subarray(0, 4)) {
    // The digest has the lowest byte of a word first.
    for (let shift = 0; shift < 32; shift += 8) text += ((word >>> shift) & 255).toString(16).padStart(2, "0");
  }
  return text;
}

/** Returns the chaining value of some chunks: of the left tree as many as are a power of two, but not all. */
function tree(bytes: Uint8Array, first: number, chunks: number, length: number, flags: number): Int32Array {
  if (chunks === 1) return chunk(bytes, first, length, flags);
  const left = 2 ** Math.floor(Math.log2(chunks - 1));
  const block = new Int32Array(16);
  block.set(tree(bytes, first, left, length, 0));
  block.set(tree(bytes, first + left, chunks - left, length, 0), 8);
  return compress(IV, block, 0, BLOCK, flags | PARENT);
}

function chunk(bytes: Uint8Array, number: number, length: number, flags: number): Int32Array {
  const end = Math.min(length, (number + 1) * CHUNK);
  let value: Int32Array = IV;
  let at = number * CHUNK;
  let start = CHUNK_START;
  for (; at + BLOCK < end; at += BLOCK) {
    value = compress(value, words(bytes, at, at + BLOCK), number, BLOCK, start);
    start = 0;
  }
  return compress(value, words(bytes, at, end), number, end - at, start | CHUNK_END | flags);
}

function words(bytes: Uint8Array, from: number, to: number): Int32Array {
  const block = new Int32Array(16);
  for (let at = from; at < to; at += 1) block[(at - from) >> 2]! |= bytes[at]! << (((at - from) & 3) * 8);
  return block;
}

/** Returns the chaining value of a block: the halves of the state, added. */
function compress(value: Int32Array, block: Int32Array, counter: number, length: number, flags: number): Int32Array {
  const v = new Int32Array(16);
  v.set(value);
  v.set(IV.subarray(0, 4), 8);
  v[12] = counter;
  v[14] = length;
  v[15] = flags;
  for (let round = 0; round < SCHEDULE.length; round += 16) {
    for (let at = 0; at < 8; at += 1) {
      const [x, y] = [block[SCHEDULE[round + at * 2]!]!, block[SCHEDULE[round + at * 2 + 1]!]!];
      if (at < 4) mix(v, at, at + 4, at + 8, at + 12, x, y);
      else mix(v, at & 3, ((at + 1) & 3) + 4, ((at + 2) & 3) + 8, ((at + 3) & 3) + 12, x, y);
    }
  }
  const sum = new Int32Array(8);
  for (let at = 0; at < 8; at += 1) sum[at] = v[at]! ^ v[at + 8]!;
  return sum;
}

function mix(v: Int32Array, a: number, b: number, c: number, d: number, x: number, y: number): void {
  v[a] = v[a]! + v[b]! + x;
  v[d] = turned(v[d]! ^ v[a]!, 16);
  v[c] = v[c]! + v[d]!;
  v[b] = turned(v[b]! ^ v[c]!, 12);
  v[a] = v[a]! + v[b]! + y;
  v[d] = turned(v[d]! ^ v[a]!, 8);
  v[c] = v[c]! + v[d]!;
  v[b] = turned(v[b]! ^ v[c]!, 7);
}

function turned(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

const CHUNK = 1024;
const BLOCK = 64;
const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;

const IV = Int32Array.of(
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
);

const PERMUTATION: readonly number[] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];

/** The words of the block that each of the seven rounds reads. */
const SCHEDULE = scheduleOf();

function scheduleOf(): Uint8Array {
  const all = new Uint8Array(7 * 16);
  for (let at = 0; at < all.length; at += 1) all[at] = at < 16 ? at : all[at - 16 - (at % 16) + PERMUTATION[at % 16]!]!;
  return all;
}
