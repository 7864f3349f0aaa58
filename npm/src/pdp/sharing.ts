// How decisions on many requests share parts of them.

import type { Decision } from "./decision.ts";
import { isDisturbed, isObject, isPlain } from "../base/plain.ts";
import type { CheckRequest } from "./types.ts";

/** The parts of a request that several requests have: sums of these, as in `crates/wasm/src/request.rs`. */
export const PRINCIPAL = 1;
export const RESOURCE = 2;
export const AUX_DATA = 4;
const FIRST = 8;

/** What the module is told of the requests of one sharer: theirs is a number of their own. */
export function sharerWord(): (shared: number) => number {
  sharers = (sharers + 1) % 2 ** 28 || 1;
  const sharerBits = sharers << 4;
  let first = FIRST;
  return (shared) => {
    const word = sharerBits | first | shared;
    first = 0;
    return word >>> 0;
  };
}

let sharers = 0;

/**
 * Returns a function for requests in a row. It returns a copy of each request and the parts that the copy shares with the one before:
 * the principal and the claims, if both are the same objects. A copy, because a getter may return another object when it is read again.
 */
export function consecutive(): (request: CheckRequest) => readonly [request: CheckRequest, shared: number] {
  let word = sharerWord();
  let last: Partial<CheckRequest> = {};
  return (request) => {
    if (isDisturbed() || !isObject(request) || !isPlain(request)) return [request, 0];
    const read = { ...request };
    if (read.principal !== last.principal || read.auxData !== last.auxData) word = sharerWord();
    last = read;
    return [read, word(PRINCIPAL | AUX_DATA)];
  };
}

/** Decides on requests that share parts, and together take no more than some number of steps. */
export interface Sharer {
  /** Decides like `check`. A part that is shared is the same in all requests that share it: it is read when it comes first. */
  check(request: CheckRequest, shared: number): Decision;
  /** The steps that are left. What they do not reach is denied. */
  left(): number;
}

/** The name under which a PDP makes one for so many steps. It is no part of what callers may rely on. */
export const SHARING: unique symbol = Symbol.for("wardgate.sharing");

/** Returns the one of this PDP, be it one that knows of no sharing. */
export function sharing(
  pdp: { check(request: CheckRequest): Decision; readonly [SHARING]?: (steps: number) => Sharer },
  steps: number,
): Sharer {
  return pdp[SHARING]?.(steps) ?? { check: (request) => pdp.check(request), left: () => steps };
}

/** Steps that belong together, unless the caller has a bound: as many as the engine allows one request. */
export const MAX_STEPS = 20_000_000;
