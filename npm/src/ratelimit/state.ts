// The state of one key under one rule.

/**
 * The state of one key. A key without one is full: its `end` is 0.
 *
 * States of one rule may be read under another quota or burst, but not under another algorithm or
 * window: a store makes those a part of the key.
 */
export class State {
  /** The first microsecond at which the state may be forgotten; 0 if there is none. */
  end = 0;
  /** GCRA: unused. Fixed: the multiples of 2^32 in the count. Sliding: the count of the window before. */
  high = 0;
  /** GCRA: the ticks by which the key is full before `end`. Fixed: the rest of the count. Sliding: the count of this window. */
  low = 0;

  /** Takes the numbers of another state. */
  copy(other: State): void {
    this.end = other.end;
    this.high = other.high;
    this.low = other.low;
  }

  /** Makes this the state of a full key. */
  clear(): void {
    this.end = this.high = this.low = 0;
  }
}

/** The outcome of an operation. All durations are in microseconds from the time of the operation. */
export interface Outcome {
  /** 0 if the cost is there, -1 if it never will be, and otherwise the time until it is. */
  readonly wait: number;
  /** The tokens that a charge can take after the operation. */
  readonly remaining: number;
  /** The time until the key is full if nothing more is charged. */
  readonly reset: number;
}

/**
 * The operation that a store does for each limit of a check: takes the cost, tells what a charge
 * would meet, returns the cost, or makes the key full.
 */
export type Action = "charge" | "look" | "refund" | "reset";
