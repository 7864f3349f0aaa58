// What a PDP and a limiter tell each other: a decision, and the rate limits that its actions meet.
//
// The limiter imports no PDP: it calls the method of this symbol.

/** The key of the method of a PDP that decides and charges nothing. It is not part of the public API. */
export const METERED: unique symbol = Symbol.for("wardgate.metered");

/** The key of the method of a PDP that returns a {@link MeteredSharer} with so many steps. */
export const METERING: unique symbol = Symbol.for("wardgate.metering");

/** The key of the member of a PDP that is true if only a limiter decides with it. */
export const NEEDS_LIMITER: unique symbol = Symbol.for("wardgate.needs-limiter");

/** Decides requests that share parts, within one total of steps, and charges nothing: a `Sharer` with limits. */
export interface MeteredSharer<D = unknown> {
  /** Decides one request. A shared part must be equal in all requests that share it. */
  check(request: unknown, shared: number): Metered<D>;
  /** Returns the number of remaining steps. Actions beyond them are denied. */
  left(): number;
}

/** A decision, and for each of its actions, in their order, the limits that it meets. */
export interface Metered<D = unknown> {
  readonly decision: D;
  readonly actions: readonly MeteredAction[];
  /** Records the decision after its charges, and returns the answer; absent if nothing is recorded. */
  readonly settle?: ((decision: D) => D) | undefined;
}

/** Returns the answer to a request that is not charged. */
export function settled<D>({ decision, settle }: Metered<D>): D {
  return settle === undefined ? decision : settle(decision);
}

/** An action, and the limits that it meets; `undefined` if the steps did not suffice to find them. */
export interface MeteredAction {
  readonly action: string;
  readonly met: readonly MeteredLimit[] | undefined;
}

/** A limit that an action meets, with its charge or the reason why there is none. */
export interface MeteredLimit {
  readonly limit: LimitFacts;
  readonly charge: MeteredCharge | { readonly error: string };
}

/** The tokens that an action takes from a key. */
export interface MeteredCharge {
  readonly error?: undefined;
  /** The parts of the key: for each a letter for its type, then its value. */
  readonly key: readonly Uint8Array[];
  readonly cost: number;
  readonly quota: number;
}

/** The parts of a limit that are the same in all requests. */
export interface LimitFacts {
  readonly name: string;
  readonly algorithm: "gcra" | "fixed" | "sliding";
  /** Microseconds, or a month of the calendar. */
  readonly window: number | "month";
  /** The tokens of a full key, in GCRA; `undefined` for the quota. */
  readonly burst: number | undefined;
  readonly consistency: "exact" | "leased" | "local";
  readonly failure: "local" | "deny" | "allow";
  readonly isShadow: boolean;
}
