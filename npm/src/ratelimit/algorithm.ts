// The parts of an algorithm in which it differs from others.

import type { State } from "./state.ts";

/** An algorithm with the numbers of a rule. Times are at most `MAX_TIME`. */
export interface Algorithm {
  /** The tokens of a full key. */
  readonly capacity: number;
  /** Rewrites a state to what it means at a time. */
  read(state: State, now: number): void;
  /** Returns the shortest time until a cost from 1 to the capacity is there. */
  wait(state: State, now: number, cost: number): number;
  /** Returns the tokens that are there. */
  remaining(state: State, now: number): number;
  /** Takes a cost that is there, or returns one if it is negative. */
  add(state: State, now: number, cost: number): void;
}
