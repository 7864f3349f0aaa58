// How decisions on many requests share parts of them.

import type { Decision } from "./decision.ts";
import type { CheckRequest } from "./types.ts";

/** The parts of a request that several requests have: sums of these. Of each kind there is one such part. */
export const PRINCIPAL = 1;
export const RESOURCE = 2;
export const AUX_DATA = 4;

/**
 * Decides like `check`, one request after the other. A part that is shared is read when it comes first, and must
 * not change until the last request was decided.
 */
export type SharedCheck = (request: CheckRequest, shared: number) => Decision;

/** The name under which a PDP has it. It is no part of what callers may rely on. */
export const SHARING: unique symbol = Symbol.for("wardgate.sharing");

/** Returns how to decide requests that share parts with this PDP, be it one that knows of no sharing. */
export function sharing(pdp: { check(request: CheckRequest): Decision; readonly [SHARING]?: () => SharedCheck }): SharedCheck {
  return pdp[SHARING]?.() ?? ((request) => pdp.check(request));
}
