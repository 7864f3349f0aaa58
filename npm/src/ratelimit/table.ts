// States of many keys in fixed memory: 24 bytes a key, and nothing is allocated later.
//
// A key has two sets of eight places that it may be in, and gets a place in the one with more room: its own,
// where a search begins, if that is free. A place is free if its state is over. Keys whose fingerprints are equal share a state: of one rule,
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
  /** Of each place: the fingerprint, the end of the state, and the rest of it. */
  readonly #words: Int32Array;
  /** The same memory, for the ends of states. */
  readonly #ends: Float64Array;
  readonly #state = new State();

  /** Makes a table for so many keys at once, with a third of all places free. */
  constructor(keys: number, whenFull: WhenFull) {
    this.#sets = Math.ceil((keys * 1.5) / WAYS);
    this.#whenFull = whenFull;
    const buffer = new ArrayBuffer(this.#sets * WAYS * PLACE_WORDS * 4);
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
    const start = set * WAYS;
    for (let step = 0; step < WAYS; step += 1) {
      const place = start + ((low + step) & (WAYS - 1));
      const at = place * PLACE_WORDS;
      if (words[at] === low && words[at + 1] === high) return place;
    }
    return -1;
  }

  #applyAt(place: number, rule: Rule, now: number, action: Action, cost: number): Outcome {
    const state = this.#state;
    state.end = this.#endAt(place);
    state.high = this.#words[place * PLACE_WORDS + HIGH]! >>> 0;
    state.low = this.#words[place * PLACE_WORDS + LOW]! >>> 0;
    const outcome = rule.apply(state, now, action, cost);
    if (action !== "look") this.#write(place);
    return outcome;
  }

  #add(first: number, second: number, low: number, high: number, rule: Rule, now: number, action: Action, cost: number): Outcome {
    this.#state.clear();
    const outcome = rule.apply(this.#state, now, action, cost);
    if (this.#state.end === 0) return outcome;
    const place = this.#soonest(first, second, low & (WAYS - 1), now);
    const until = this.#endAt(place);
    if (until > now) {
      if (this.#whenFull === "deny") {
        this.full += 1;
        return { wait: until - now, remaining: 0, reset: until - now };
      }
      this.evicted += 1;
    }
    this.#words[place * PLACE_WORDS] = low;
    this.#words[place * PLACE_WORDS + 1] = high;
    this.#write(place);
    return outcome;
  }

  #write(place: number): void {
    const { end, high, low } = this.#state;
    this.#ends[place * PLACE_ENDS + 1] = end;
    this.#words[place * PLACE_WORDS + HIGH] = high;
    this.#words[place * PLACE_WORDS + LOW] = low;
  }

  /**
   * Returns the place that is over first in the set with more room. While half of the first set is free
   * it has the preference: of keys there, the second set is not read.
   */
  #soonest(first: number, second: number, own: number, now: number): number {
    const free = this.#free(first, now);
    const one = this.#soonestOf(first, own, now);
    if (free >= WAYS / 2) return one;
    const others = this.#free(second, now);
    const other = this.#soonestOf(second, own, now);
    const isOther = others > free || (others === 0 && free === 0 && this.#endAt(other) < this.#endAt(one));
    return isOther ? other : one;
  }

  #soonestOf(set: number, own: number, now: number): number {
    let best = set * WAYS + own;
    if (this.#endAt(best) <= now) return best;
    for (let way = 0; way < WAYS; way += 1) {
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
    return this.#ends[place * PLACE_ENDS + 1]!;
  }
}

/** A place has two words of the fingerprint, two that are the end of its state, and its two others. */
const PLACE_WORDS = 6;
const PLACE_ENDS = PLACE_WORDS / 2;
const HIGH = 4;
const LOW = 5;
