// States of many keys in fixed memory: 24 bytes a key, and nothing is allocated later.
//
// A key has two sets of eight places that it may be in, and gets a place in the one with more room. A
// place is free if its state is over. Keys whose fingerprints are equal share a state: of one rule,
// they can only be refused more.

import { WAYS } from "./limits.ts";
import type { Rule } from "./rule.ts";
import { State, type Action, type Outcome } from "./state.ts";

/**
 * The treatment of a new key whose sets are full of states that are not over: its charge is refused
 * until the first of them is, or it takes that place, and the other key is full from then on.
 */
export type WhenFull = "deny" | "evict";

export class Table {
  /** Charges refused since no place was free. */
  full = 0;
  /** States that were given up for others. */
  evicted = 0;
  readonly #sets: number;
  readonly #whenFull: WhenFull;
  /** Of each set: the fingerprints of its keys, then their states. */
  readonly #words: Int32Array;
  /** The same memory, for the ends of states. */
  readonly #ends: Float64Array;
  readonly #state = new State();

  /** Makes a table for so many keys at once, with a third of all places free. */
  constructor(keys: number, whenFull: WhenFull) {
    this.#sets = Math.ceil((keys * 1.5) / WAYS);
    this.#whenFull = whenFull;
    const buffer = new ArrayBuffer(this.#sets * SET_BYTES);
    this.#words = new Int32Array(buffer);
    this.#ends = new Float64Array(buffer);
  }

  /** The number of keys that the memory has places for. */
  get places(): number {
    return this.#sets * WAYS;
  }

  /** Applies an operation to the state of the key with this fingerprint. */
  apply(low: number, high: number, rule: Rule, now: number, action: Action, cost: number): Outcome {
    const first = this.#setAt(low);
    let place = this.#find(first, low, high);
    if (place >= 0) return this.#applyAt(place, rule, now, action, cost);
    const second = this.#setAt(high);
    place = this.#find(second, low, high);
    if (place >= 0) return this.#applyAt(place, rule, now, action, cost);
    return this.#add(first, second, low, high, rule, now, action, cost);
  }

  /** Counts the states that are not over. It reads the whole memory. */
  live(now: number): number {
    let count = 0;
    for (let place = 0; place < this.places; place += 1) count += this.#endAt(place) > now ? 1 : 0;
    return count;
  }

  /** Returns the set at a part of all. */
  #setAt(part: number): number {
    return Math.floor(((part >>> 0) * this.#sets) / 2 ** 32);
  }

  #find(set: number, low: number, high: number): number {
    const words = this.#words;
    const start = set * SET_WORDS;
    for (let way = 0; way < WAYS; way += 1) {
      const at = start + way * 2;
      if (words[at] === low && words[at + 1] === high) return set * WAYS + way;
    }
    return -1;
  }

  #applyAt(place: number, rule: Rule, now: number, action: Action, cost: number): Outcome {
    const state = this.#state;
    const at = stateWord(place);
    state.end = this.#ends[at / 2]!;
    state.high = this.#words[at + 2]! >>> 0;
    state.low = this.#words[at + 3]! >>> 0;
    const outcome = rule.apply(state, now, action, cost);
    if (action !== "look") this.#write(at);
    return outcome;
  }

  #add(first: number, second: number, low: number, high: number, rule: Rule, now: number, action: Action, cost: number): Outcome {
    this.#state.clear();
    const outcome = rule.apply(this.#state, now, action, cost);
    if (this.#state.end === 0) return outcome;
    const place = this.#soonest(first, second, now);
    const until = this.#endAt(place);
    if (until > now) {
      if (this.#whenFull === "deny") {
        this.full += 1;
        return { wait: until - now, remaining: 0, reset: until - now };
      }
      this.evicted += 1;
    }
    const at = Math.floor(place / WAYS) * SET_WORDS + (place % WAYS) * 2;
    this.#words[at] = low;
    this.#words[at + 1] = high;
    this.#write(stateWord(place));
    return outcome;
  }

  #write(at: number): void {
    this.#ends[at / 2] = this.#state.end;
    this.#words[at + 2] = this.#state.high;
    this.#words[at + 3] = this.#state.low;
  }

  /**
   * Returns the place that is over first in the set with more room. While half of the first set is free
   * it has the preference: of keys there, the second set is not read.
   */
  #soonest(first: number, second: number, now: number): number {
    const free = this.#free(first, now);
    const one = this.#soonestOf(first);
    if (free >= WAYS / 2) return one;
    const others = this.#free(second, now);
    const other = this.#soonestOf(second);
    const isOther = others > free || (others === 0 && free === 0 && this.#endAt(other) < this.#endAt(one));
    return isOther ? other : one;
  }

  #soonestOf(set: number): number {
    let best = set * WAYS;
    for (let way = 1; way < WAYS; way += 1) {
      if (this.#endAt(set * WAYS + way) < this.#endAt(best)) best = set * WAYS + way;
    }
    return best;
  }

  #free(set: number, now: number): number {
    let free = 0;
    for (let way = 0; way < WAYS; way += 1) free += this.#endAt(set * WAYS + way) <= now ? 1 : 0;
    return free;
  }

  #endAt(place: number): number {
    return this.#ends[stateWord(place) / 2]!;
  }
}

/** Returns the first word of the state at a place. */
function stateWord(place: number): number {
  return Math.floor(place / WAYS) * SET_WORDS + WAYS * 2 + (place % WAYS) * 4;
}

/** A fingerprint has two words, and a state four: two are its end. */
const SET_WORDS = WAYS * 6;
const SET_BYTES = SET_WORDS * 4;
