// The decisions of a fast path for all of its inputs.
//
// A fast path that only compares the words of its slots has few different inputs: two words are the
// same string or not. The module decides all of them when the fast path is loaded. No request is
// stored, and the module decides each input that the table leaves open.

import { DIGIT, FALSE, MISSING, NULL, STRINGS, TEMPORARY, TRUE, UNSURE, type Frame } from "../wasm/frame.ts";
import { callState } from "../wasm/reentrancy.ts";

/** The table of a fast path without one: its only key is unsure. */
export const NO_TABLE = Uint8Array.of(UNSURE);

/**
 * The kind of a slot: whether it holds only strings, whether no other slot is compared with it, and
 * whether it holds only the result of a test.
 */
export interface SlotInfo {
  readonly isText: boolean;
  readonly isLone: boolean;
  readonly isTruth: boolean;
}

/** The fast path to decide, and the frame and bundle for it. */
export interface TableQuery {
  readonly frame: Frame;
  readonly handle: number;
  readonly fastPath: number;
}

/**
 * Returns the table of a fast path with these slots, whose roles have some of the bits of `masks`.
 * The digits of a key are the mask and the words, in the order of their slots.
 */
export function truthTableOf({ frame, handle, fastPath }: TableQuery, slots: readonly SlotInfo[], masks: number): Uint8Array {
  const { length } = slots;
  if (length > MAX_SLOTS || masks < 0 || masks > MAX_MASK || frame.words.length === 0) return NO_TABLE;
  const table = new Uint8Array((MAX_MASK + 1) << (DIGIT * length)).fill(UNSURE);
  const fill = (slot: number, key: number, strings: number): void => {
    if (slot === length) {
      table[key] = frame.decide(handle, fastPath, key >>> (DIGIT * length));
      return;
    }
    const write = (word: number, digit: number, known: number): void => {
      frame.words[slot] = word;
      fill(slot + 1, (key << DIGIT) | digit, known);
    };
    if (!slots[slot]!.isText) for (const word of SCALARS) write(word, word, strings);
    if (slots[slot]!.isTruth) return;
    // All strings have one word there.
    if (slots[slot]!.isLone) return write(TEMPORARY, TEMPORARY - STRINGS, strings);
    // A string is one of the strings in earlier slots, or the next new one.
    for (let at = 0; at <= strings; at += 1) {
      write(TEMPORARY + at, TEMPORARY + at - STRINGS, Math.max(strings, at + 1));
    }
  };
  callState.isDeciding = true;
  for (let mask = 0; mask <= MAX_MASK; mask += 1) if ((mask & ~masks) === 0) fill(0, mask, 0);
  callState.isDeciding = false;
  return table;
}

const SCALARS = [MISSING, NULL, FALSE, TRUE] as const;

/** A bound on the table: 4 words and up to 3 strings in 3 slots, for 8 masks. */
const MAX_SLOTS = 3;
const MAX_MASK = 7;
