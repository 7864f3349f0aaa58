// The answers of a plan to all that can be asked of it.
//
// A plan that only compares the words of its slots knows few different requests: two words are the same
// string or they are not. Its answers to all of them are worked out by the module when the plan is read.
// Nothing that anybody asked is kept, and what is left open here is asked of the module each time.

import { DIGIT, FALSE, MISSING, NULL, STRINGS, TEMPORARY, TRUE, UNSURE, type Frame } from "../wasm/frame.ts";
import { turn } from "../wasm/turn.ts";

/** The answers of a plan of which none are kept: to its only key it has no answer. */
export const NO_ANSWERS = Uint8Array.of(UNSURE);

/** What is known of a slot beforehand: whether only strings are in it. */
export interface Slot {
  readonly isText: boolean;
}

/** What to ask, and of whom. */
export interface Asking {
  readonly frame: Frame;
  readonly handle: number;
  readonly plan: number;
}

/**
 * The answers of a plan with these slots, whose roles have some of the bits of `masks`. A key is a number
 * whose digits are the mask and the words in the order of their slots.
 */
export function answersOf({ frame, handle, plan }: Asking, slots: readonly Slot[], masks: number): Uint8Array {
  const { length } = slots;
  if (length > MAX_SLOTS || masks < 0 || masks > MAX_MASK || frame.words.length === 0) return NO_ANSWERS;
  const answers = new Uint8Array((MAX_MASK + 1) << (DIGIT * length)).fill(UNSURE);
  const ask = (slot: number, key: number, strings: number): void => {
    if (slot === length) {
      answers[key] = frame.decide(handle, plan, key >>> (DIGIT * length));
      return;
    }
    const write = (word: number, digit: number, known: number): void => {
      frame.words[slot] = word;
      ask(slot + 1, (key << DIGIT) | digit, known);
    };
    if (!slots[slot]!.isText) for (const word of SCALARS) write(word, word, strings);
    // A string is one of those in the slots before, or the next new one.
    for (let at = 0; at <= strings; at += 1) {
      write(TEMPORARY + at, TEMPORARY + at - STRINGS, Math.max(strings, at + 1));
    }
  };
  turn.isAsking = true;
  for (let mask = 0; mask <= MAX_MASK; mask += 1) if ((mask & ~masks) === 0) ask(0, mask, 0);
  turn.isAsking = false;
  return answers;
}

const SCALARS = [MISSING, NULL, FALSE, TRUE] as const;

/** A bound on what is worked out: 4 words and up to 3 strings in 3 slots, for 8 masks. */
const MAX_SLOTS = 3;
const MAX_MASK = 7;
