// The breaker before a store: after failures in a row, it lets one check a second try. All times are
// arguments, in microseconds of one clock.

import { FAILURES, TRY_MICROS } from "./limits.ts";

export class Breaker {
  /** The times that it opened. */
  opened = 0;
  #failures = 0;
  /** The time from which one check may try; 0 if all may pass. */
  #nextTry = 0;

  get isOpen(): boolean {
    return this.#nextTry !== 0;
  }

  /** Returns true if a check may go to the store. */
  admits(now: number): boolean {
    if (this.#nextTry === 0) return true;
    if (now < this.#nextTry) return false;
    this.#nextTry = now + TRY_MICROS;
    return true;
  }

  succeeded(): void {
    this.#failures = this.#nextTry = 0;
  }

  /** Notes that so many checks failed. */
  failed(now: number, checks: number): void {
    this.#failures += checks;
    if (this.#failures < FAILURES) return;
    if (this.#nextTry === 0) this.opened += 1;
    this.#nextTry = now + TRY_MICROS;
  }
}
