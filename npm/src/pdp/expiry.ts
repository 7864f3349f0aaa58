// The expiry of a bundle that a host has open.

import type { BundleHeader } from "./header.ts";

/** The state of a bundle relative to its expiry time. */
export type Expiry =
  /** The bundle has no expiry time. */
  | { readonly kind: "never" }
  | { readonly kind: "valid"; readonly millisecondsLeft: number }
  /**
   * Less than a day is left, or less than a tenth of the lifetime. A newer bundle should have
   * arrived.
   */
  | { readonly kind: "soon"; readonly millisecondsLeft: number }
  /** The PDP denies every action, unless it was opened with `afterExpiry: "decide"`. */
  | { readonly kind: "expired" };

/**
 * Returns the state of a bundle at a time in milliseconds since 1970.
 *
 * @example
 *     const { kind } = expiryOf(pdp.header, Date.now());
 */
export function expiryOf({ expires, notBefore, created }: BundleHeader, now: number): Expiry {
  if (expires === undefined) return { kind: "never" };
  const millisecondsLeft = expires - now;
  // A time that is not a number counts as expired, so that every action is denied.
  if (!(millisecondsLeft > 0)) return { kind: "expired" };
  const begin = notBefore ?? (created > 0 ? created : undefined);
  const warning = begin === undefined ? DAY : Math.min(DAY, (expires - begin) / 10);
  return { kind: millisecondsLeft <= warning ? "soon" : "valid", millisecondsLeft };
}

const DAY = 86_400_000;
