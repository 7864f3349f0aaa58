// What the date on which a bundle expires means for a host that has it open.

import type { BundleHeader } from "./header.ts";

/** Where a moment lies before or after the date on which a bundle expires. */
export type Expiry =
  /** It never expires. */
  | { readonly kind: "never" }
  | { readonly kind: "valid"; readonly millisecondsLeft: number }
  /** Less than a day is left, or less than a tenth of its time. It is time to ask why there is no newer one. */
  | { readonly kind: "soon"; readonly millisecondsLeft: number }
  /** A PDP denies everything, unless it was opened with `afterExpiry: "decide"`. */
  | { readonly kind: "expired" };

/** Returns what the date in a header means at a time in milliseconds since 1970. */
export function expiryOf({ expires, notBefore, created }: BundleHeader, now: number): Expiry {
  if (expires === undefined) return { kind: "never" };
  const millisecondsLeft = expires - now;
  // What is no time is after it: then nothing is allowed either.
  if (!(millisecondsLeft > 0)) return { kind: "expired" };
  const begin = notBefore ?? (created > 0 ? created : undefined);
  const warning = begin === undefined ? DAY : Math.min(DAY, (expires - begin) / 10);
  return { kind: millisecondsLeft <= warning ? "soon" : "valid", millisecondsLeft };
}

const DAY = 86_400_000;
