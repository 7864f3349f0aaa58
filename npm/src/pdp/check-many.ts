// Reads the options of `checkMany`.

import { describe } from "../base/describe.ts";
import { knownMembers, readWhole } from "../base/option.ts";

/** The options of `checkMany`. */
export interface CheckManyOptions {
  /**
   * The total number of steps for all decisions of the call; each decision has a bound of its own
   * too. Actions beyond the total are denied with the reason `limit-reached`. Default: no total.
   *
   * @example
   *     pdp.checkMany(requests, { maxSteps: 20_000_000 });
   */
  readonly maxSteps?: number | undefined;
}

/** Returns the total number of steps; `undefined` if it is unbounded. */
export function readCheckMany(options: unknown): number | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object, found ${describe(options)}`);
  }
  return readWhole(knownMembers(options, ["maxSteps"]).get("maxSteps"), "maxSteps", MAX_STEPS);
}

/** The module reads the next number as unbounded. */
const MAX_STEPS = 2 ** 32 - 2;
