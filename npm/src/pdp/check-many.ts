// Reads the options of decisions on several requests.

import { describe } from "../base/describe.ts";
import { known, readWhole } from "../base/option.ts";

/** How to check several requests. */
export interface CheckManyOptions {
  /**
   * The steps that all decisions of the call may take together; each has a bound of its own besides. What the steps do
   * not reach is denied, for the reason `limit-reached`. Without it the call takes as long as its requests make it.
   */
  readonly maxSteps?: number | undefined;
}

/** Reads the options of `checkMany`: the steps, if they are bounded. */
export function readCheckMany(options: unknown): number | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object, found ${describe(options)}`);
  }
  return readWhole(known(options, ["maxSteps"]).get("maxSteps"), "maxSteps", MAX_STEPS);
}

/** One less than what the module takes for steps without number. */
const MAX_STEPS = 2 ** 32 - 2;
