// What every store does: charge, look, refund and reset, over all limits of a check.

import type { Demand } from "./demand.ts";
import type { Action, Outcome } from "./state.ts";

/**
 * A place in which the states of limits are.
 *
 * A charge takes the cost of every demand or of none. It was done if and only if each wait is 0. A
 * rejection says nothing about the states: the store may have charged before it was lost, and never
 * twice.
 */
export interface Store {
  /** Does one thing for all demands, and returns an outcome for each, now or later. */
  run(action: Action, demands: readonly Demand[]): readonly Outcome[] | PromiseLike<readonly Outcome[]>;
}

/**
 * The reason for which a store gave no outcomes.
 *
 * - `open`: it failed a number of times in a row, and is asked again in a moment.
 * - `late`: it did not answer in time.
 * - `crowded`: too many checks wait for it.
 * - `lost`: there is no connection, or it broke.
 * - `refused`: it refused the call with a code, such as `READONLY` or `OOM`.
 * - `garbled`: its reply is none to such a call.
 */
export type AwayReason = "open" | "late" | "crowded" | "lost" | "refused" | "garbled";

/** A store is away. The message names no key, and nothing that the store said but its code. */
export class Away extends Error {
  /** The reason. */
  readonly reason: AwayReason;
  /** The code with which the store refused. */
  declare readonly code?: string;

  constructor(reason: AwayReason, code?: string) {
    super(code === undefined ? MESSAGES[reason] : `${MESSAGES[reason]} with \`${code}\``);
    this.name = "Away";
    this.reason = reason;
    if (code !== undefined) this.code = code;
  }
}

/** Returns true if a charge with these outcomes was done. */
export function isDone(outcomes: readonly Outcome[]): boolean {
  return outcomes.every(({ wait }) => wait === 0);
}

const MESSAGES: { readonly [reason in AwayReason]: string } = {
  open: "the store of limits failed before and is not asked now",
  late: "the store of limits did not answer in time",
  crowded: "too many checks wait for the store of limits",
  lost: "no connection to the store of limits",
  refused: "the store of limits refused",
  garbled: "expected outcomes of limits, found another reply",
};
