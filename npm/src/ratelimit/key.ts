// Keys: what a limit counts for, as a list of parts.
//
// Each part is preceded by its length, so that no other list has the same bytes. A key is at most
// `MAX_KEY_BYTES` long: what is hashed is bounded, and a longer one throws.

import { describe } from "../base/describe.ts";
import { blake3 } from "./blake3.ts";
import { MAX_KEY_BYTES } from "./limits.ts";

/** The parts of a key. A string stands for its bytes in UTF-8. */
export type Key = readonly (string | Uint8Array)[];

/** Returns the name of a key in a store that others share: 128 bits of BLAKE3 in hexadecimal. */
export function digestOf(key: Key): string {
  return blake3(BYTES, writeKey(key));
}

/** Throws if the parts of a key are too long. */
export function checkKey(key: readonly Uint8Array[]): void {
  if (key.reduce((sum, part) => sum + 8 + part.length, 0) > MAX_KEY_BYTES) throw tooLong();
}

/**
 * Writes a key into `WORDS`, each part after its length and padded to whole words, and returns how many.
 * It is the text of fingerprints, which are never stored.
 */
export function paddedWords(key: Key): number {
  let word = 0;
  for (let at = 0; at < key.length; at += 1) {
    const start = word * 4 + 4;
    const length = writePart(key[at]!, start);
    WORDS[word] = length;
    const end = (length + 3) >> 2;
    for (let pad = start + length; pad < start + end * 4; pad += 1) BYTES[pad] = 0;
    word += 1 + end;
  }
  return word;
}

/** Writes a key as `crates/ratelimit-store` has it, with lengths of 64 bits, and returns the number of bytes. */
function writeKey(key: Key): number {
  let at = 0;
  for (const part of key) {
    const length = writePart(part, at + 8);
    BYTES.fill(0, at, at + 8);
    BYTES[at] = length;
    BYTES[at + 1] = length >> 8;
    at += 8 + length;
  }
  return at;
}

function writePart(part: string | Uint8Array, start: number): number {
  return typeof part === "string" ? writeText(part, start) : writeBytes(part, start);
}

/** Writes a text at a position and returns the number of its bytes. */
function writeText(text: string, start: number): number {
  const { length } = text;
  if (start + length > MAX_KEY_BYTES) throw tooLong();
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) return writeUnicode(text, start);
    BYTES[start + at] = code;
  }
  return length;
}

function writeUnicode(text: string, start: number): number {
  // Half of a surrogate pair has no encoding, and its replacement would be another key.
  if (/\p{Surrogate}/u.test(text)) throw new RangeError("a part of `key` must be Unicode");
  return writeBytes(utf8.encode(text), start);
}

function writeBytes(part: unknown, start: number): number {
  if (!(part instanceof Uint8Array)) throw new TypeError(`a part of \`key\` must be a string or Uint8Array, found ${describe(part)}`);
  if (start + part.length > MAX_KEY_BYTES) throw tooLong();
  BYTES.set(part, start);
  return part.length;
}

function tooLong(): RangeError {
  return new RangeError(`\`key\` must have at most ${MAX_KEY_BYTES} bytes with its lengths`);
}

const utf8 = new TextEncoder();
// With room for a length after the last byte.
const buffer = new ArrayBuffer(MAX_KEY_BYTES + 16);
const BYTES = new Uint8Array(buffer);
/** The words that {@link paddedWords} writes. */
export const WORDS = new Int32Array(buffer);
