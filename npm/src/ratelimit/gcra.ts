// The generic cell rate algorithm: see `crates/ratelimit/src/gcra.rs` for what it promises.
//
// The theoretical arrival time is microseconds in `end`, less 1/128 microseconds in `low`. It may be
// ahead of now by 2^52 ticks, and by more if the clock went back or the rule has changed. Ticks are
// counted from now or, if that is nearer, from one burst before the arrival time, so that they stay
// below 2^53.

import type { Algorithm } from "./algorithm.ts";
import { TICKS } from "./limits.ts";
import type { State } from "./state.ts";

export class Gcra implements Algorithm {
  readonly capacity: number;
  /** The ticks of one token. */
  readonly #interval: number;
  /** The ticks of a full key. */
  readonly #limit: number;
  /** The microseconds of a full key, rounded up. */
  readonly #span: number;

  constructor(interval: number, burst: number) {
    this.capacity = burst;
    this.#interval = interval;
    this.#limit = burst * interval;
    this.#span = micros(this.#limit);
  }

  read(state: State, now: number): void {
    if (state.end > now) return;
    state.end = now;
    state.high = state.low = 0;
  }

  wait(state: State, now: number, cost: number): number {
    const lag = this.#lag(state, now);
    const over = this.#ahead(state, now + lag) + cost * this.#interval - this.#limit;
    return over > 0 ? lag + micros(over) : 0;
  }

  remaining(state: State, now: number): number {
    const left = this.#limit - this.#ahead(state, now + this.#lag(state, now));
    return left > 0 ? Math.floor(left / this.#interval) : 0;
  }

  add(state: State, now: number, cost: number): void {
    const ticks = cost * this.#interval - state.low;
    const whole = Math.ceil(ticks / TICKS);
    const end = state.end + whole;
    const isFull = end <= now;
    state.end = isFull ? 0 : end;
    state.low = isFull ? 0 : whole * TICKS - ticks;
  }

  /** Returns the microseconds by which a state is further ahead than a burst. */
  #lag(state: State, now: number): number {
    return Math.max(state.end - now - this.#span, 0);
  }

  #ahead(state: State, from: number): number {
    return (state.end - from) * TICKS - state.low;
  }
}

/** Returns ticks as microseconds, rounded up. */
function micros(ticks: number): number {
  return Math.ceil(ticks / TICKS);
}
