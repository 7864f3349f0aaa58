// Shares parts of requests between decisions.

import type { Decision } from "./decision.ts";
import { isDisturbed, isObject, isPlain } from "../base/plain.ts";
import type { CheckRequest } from "./request-types.ts";

/** The parts that requests can share: bits that are added, as in `crates/wasm/src/request.rs`. */
export const PRINCIPAL = 1;
export const RESOURCE = 2;
export const AUX_DATA = 4;
const FIRST = 8;

/**
 * Returns a function that encodes the shared parts of a request for the module, with a number of
 * this sharer.
 */
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
 * Returns a function for consecutive requests. It returns a copy of each request, and the parts
 * that the copy shares with the previous one: the principal and the claims, if both are the same
 * objects. A copy, because a getter may return another object when it is read again.
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

/** Decides requests that share parts, within one total of steps. */
export interface Sharer {
  /**
   * Decides like `check`. A shared part must be equal in all requests that share it: it is read in
   * the first of them.
   */
  check(request: CheckRequest, shared: number): Decision;
  /** Returns the number of remaining steps. Actions beyond them are denied. */
  left(): number;
}

/** The key of the method of a PDP that creates a sharer. It is not part of the public API. */
export const SHARING: unique symbol = Symbol.for("wardgate.sharing");

/** Returns a sharer of this PDP, even if the PDP does not support sharing. */
export function sharing(
  pdp: { check(request: CheckRequest): Decision; readonly [SHARING]?: (steps: number) => Sharer },
  steps: number,
): Sharer {
  return pdp[SHARING]?.(steps) ?? { check: (request) => pdp.check(request), left: () => steps };
}

/** The default total of steps: the number that the engine allows for one request. */
export const MAX_STEPS = 20_000_000;
