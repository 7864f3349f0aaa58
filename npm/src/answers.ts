// The answers of a plan to all that can be asked of it.
//
// A plan that only compares the words of its slots knows few different requests: two words are the same
// string or they are not. Its answers to all of them are worked out by the module when the plan is read.
// Nothing that anybody asked is kept, and what is left open here is asked of the module each time.

import { DIGIT, FALSE, MISSING, NULL, STRINGS, TEMPORARY, TRUE, UNSURE, type Frame } from "./frame.ts";
import { turn } from "./turn.ts";

/** The answers of a plan of which none are kept: to its only key it has no answer. */
export const NO_ANSWERS = Uint8Array.of(UNSURE);

/**
 * The answers of a plan with so many slots, whose roles have some of the bits of `masks`. A key is a number
 * whose digits are the mask and the words in the order of their slots.
 */
export function answersOf(frame: Frame, handle: number, plan: number, slots: number, masks: number): Uint8Array {
  if (slots > MAX_SLOTS || masks < 0 || masks > MAX_MASK || frame.words.length === 0) return NO_ANSWERS;
  const answers = new Uint8Array((MAX_MASK + 1) << (DIGIT * slots)).fill(UNSURE);
  const ask = (slot: number, key: number, strings: number): void => {
    if (slot === slots) {
      answers[key] = frame.decide(handle, plan, key >>> (DIGIT * slots));
      return;
    }
    const write = (word: number, digit: number, known: number): void => {
      frame.words[slot] = word;
      ask(slot + 1, (key << DIGIT) | digit, known);
    };
    for (const word of SCALARS) write(word, word, strings);
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
