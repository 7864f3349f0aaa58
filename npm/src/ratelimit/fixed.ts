// Fixed windows, aligned to UTC: see `crates/ratelimit/src/fixed.rs` for what they promise.
//
// The state is the end of the window, and its count.

import type { Algorithm } from "./algorithm.ts";
import { monthEnd } from "./calendar.ts";
import type { State } from "./state.ts";

export class Fixed implements Algorithm {
  readonly capacity: number;
  /** The length in microseconds; a month of the calendar if 0. */
  readonly #window: number;

  constructor(quota: number, window: number) {
    this.capacity = quota;
    this.#window = window;
  }

  read(state: State, now: number): void {
    if (state.end > now) return;
    const window = this.#window;
    state.end = window === 0 ? monthEnd(now) : Math.floor(now / window) * window + window;
    state.high = state.low = 0;
  }

  wait(state: State, now: number, cost: number): number {
    return count(state) + cost <= this.capacity ? 0 : state.end - now;
  }

  remaining(state: State): number {
    return Math.max(this.capacity - count(state), 0);
  }

  add(state: State, _now: number, cost: number): void {
    const after = Math.max(count(state) + cost, 0);
    state.high = Math.floor(after / WORD);
    state.low = after - state.high * WORD;
    if (after === 0) state.end = 0;
  }
}

function count(state: State): number {
  return state.high * WORD + state.low;
}

/** The numbers of one word of a state. */
const WORD = 2 ** 32;
