// Sliding windows of two counters: see `crates/ratelimit/src/sliding.rs` for what they promise.
//
// The state is the end of the window after this one, the count of the window before and that of this one.

import type { Algorithm } from "./algorithm.ts";
import type { State } from "./state.ts";

export class Sliding implements Algorithm {
  readonly capacity: number;
  readonly #window: number;

  constructor(quota: number, window: number) {
    this.capacity = quota;
    this.#window = window;
  }

  read(state: State, now: number): void {
    const window = this.#window;
    const edge = state.end - window;
    if (now < edge) return;
    const isNext = now < state.end;
    state.high = isNext ? state.low : 0;
    state.low = 0;
    state.end = Math.floor(now / window) * window + 2 * window;
  }

  wait(state: State, now: number, cost: number): number {
    const { high: before, low: count } = state;
    const room = this.capacity - cost;
    if (this.#used(state, now) <= room) return 0;
    const start = state.end - 2 * this.#window;
    if (count <= room) return start + this.#until(before, room - count) - now;
    return start + this.#window + this.#until(count, room) - now;
  }

  remaining(state: State, now: number): number {
    return Math.max(this.capacity - this.#used(state, now), 0);
  }

  /** Returns tokens from this window first, so that a refund undoes a charge of this window exactly. */
  add(state: State, _now: number, cost: number): void {
    const after = state.low + cost;
    state.low = Math.max(after, 0);
    if (after < 0) state.high = Math.max(state.high + after, 0);
    if (state.low === 0 && state.high === 0) state.end = 0;
  }

  /** Returns the tokens of this window, and those of the one before by their weight, rounded up. */
  #used({ end, high, low }: State, now: number): number {
    if (high === 0) return low;
    const window = this.#window;
    const overlap = Math.min(end - window - now, window);
    return low + divided(high, overlap, window, window - 1);
  }

  /** Returns the part of a window that passes until so many tokens of the window before weigh at most `room`. */
  #until(before: number, room: number): number {
    return before <= room ? 0 : this.#window - divided(room, this.#window, before, 0);
  }
}

/** Returns `(a * b + more) / c`, rounded down, where `a` is below 2^28, `b` and `c` below 2^45, and `more` below `c`. */
function divided(a: number, b: number, c: number, more: number): number {
  const product = a * b;
  if (product < EXACT) return Math.floor((product + more) / c);
  // A long division by digits of 7 bits: no number of it reaches 2^53.
  let quotient = 0;
  let rest = 0;
  for (let unit = HIGHEST; unit >= 1; unit /= 128) {
    const part = rest * 128 + (Math.floor(a / unit) % 128) * b;
    const digit = Math.floor(part / c);
    rest = part - digit * c;
    quotient = quotient * 128 + digit;
  }
  return rest + more >= c ? quotient + 1 : quotient;
}

/** Products below this are exact, and so are their sums with a window. */
const EXACT = 2 ** 52;

/** The unit of the highest digit: `a` has at most five. */
const HIGHEST = 2 ** 28;
