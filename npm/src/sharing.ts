// How decisions on many requests share parts of them.

import type { Decision } from "./decision.ts";
import type { CheckRequest } from "./types.ts";

/** The parts of a request that several requests have: sums of these, as in `crates/wasm/src/request.rs`. */
export const PRINCIPAL = 1;
export const RESOURCE = 2;
export const AUX_DATA = 4;
/** What was shared before is void. */
export const FIRST = 8;

/**
 * Decides like `check`, one request after the other. A part that is shared is the same in all requests that share
 * it: it is read when it comes first.
 */
export type SharedCheck = (request: CheckRequest, shared: number) => Decision;

/** Returns how to decide requests that share parts, and together take no more than so many steps. */
export type Sharing = (steps: number) => SharedCheck;

/** The name under which a PDP has it. It is no part of what callers may rely on. */
export const SHARING: unique symbol = Symbol.for("wardgate.sharing");

/** The same with this PDP, be it one that knows of no sharing. */
export function sharing(pdp: { check(request: CheckRequest): Decision; readonly [SHARING]?: Sharing }, steps: number): SharedCheck {
  return pdp[SHARING]?.(steps) ?? ((request) => pdp.check(request));
}
