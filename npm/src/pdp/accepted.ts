// A bundle that a PDP accepted, as data that another thread can take over.

/** An unsealed, whole bundle and the conditions that it met: the base of the next delta, and what is opened again after a trap. */
export interface AcceptedBundle {
  readonly bytes: Uint8Array;
  /** The time at which it was accepted, in milliseconds since 1970, and the lowest revision that was accepted then. */
  readonly now: number;
  readonly minRevision: number;
}

/** An accepted bundle and the options of its PDP that another PDP needs to decide alike. */
export interface AcceptedOpening extends AcceptedBundle {
  readonly terms: Uint8Array;
  readonly isUnsigned: boolean;
  readonly decidesAfterExpiry: boolean;
  readonly maxBytes: number;
}
