// The answers of a plan to all that can be asked of it.
//
// A plan that only compares the words of its slots knows few different requests: two words are the same
// string or they are not. Its answers to all of them are worked out by the module when the plan is read.
// Nothing that anybody asked is kept, and what is left open here is asked of the module each time.

import { DIGIT, FALSE, MISSING, NULL, STRINGS, TEMPORARY, TRUE, UNSURE, type Frame } from "../wasm/frame.ts";
import { callState } from "../wasm/reentrancy.ts";

/** The answers of a plan of which none are kept: to its only key it has no answer. */
export const NO_TABLE = Uint8Array.of(UNSURE);

/** What is known of a slot beforehand: whether only strings are in it. */
export interface SlotInfo {
  readonly isText: boolean;
}

/** What to ask, and of whom. */
export interface TableQuery {
  readonly frame: Frame;
  readonly handle: number;
  readonly fastPath: number;
}

/**
 * The answers of a plan with these slots, whose roles have some of the bits of `masks`. A key is a number
 * whose digits are the mask and the words in the order of their slots.
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
    // A string is one of those in the slots before, or the next new one.
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

/** A bound on what is worked out: 4 words and up to 3 strings in 3 slots, for 8 masks. */
const MAX_SLOTS = 3;
const MAX_MASK = 7;
