// A bundle that a PDP accepted, as data for another thread.

/**
 * An unsealed, whole bundle with the conditions that it met. It is the base of the next delta, and
 * is opened again after a trap.
 */
export interface AcceptedBundle {
  readonly bytes: Uint8Array;
  /**
   * The time of acceptance in milliseconds since 1970, and the lowest accepted revision at that
   * time.
   */
  readonly now: number;
  readonly minRevision: number;
}

/** An accepted bundle with the options that another PDP needs to decide alike. */
export interface AcceptedOpening extends AcceptedBundle {
  readonly terms: Uint8Array;
  readonly isUnsigned: boolean;
  readonly decidesAfterExpiry: boolean;
  readonly enforcesLimits: boolean;
  readonly maxBytes: number;
}
