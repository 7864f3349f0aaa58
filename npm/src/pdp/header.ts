// The header of an opened bundle.

/**
 * The statements of the signers about a bundle. If `"unsigned"` bundles are trusted, they are
 * unverified.
 */
export interface BundleHeader {
  /** The name of the bundle; empty if it has none. */
  readonly name: string;
  /** The revision. Store the highest one, and give it as `minRevision` to the next `open`. */
  readonly revision: number;
  /** The creation time in milliseconds since 1970; 0 if the bundle has none. */
  readonly created: number;
  /** The time from which the bundle may be opened, in milliseconds since 1970. */
  readonly notBefore?: number;
  /**
   * The time from which the bundle may no longer be opened and an open PDP denies every action, in
   * milliseconds since 1970.
   */
  readonly expires?: number;
  /**
   * The meaning of an error in a condition: `strict` denies, `lenient` treats the condition as
   * false.
   */
  readonly evaluation: "strict" | "lenient";
  /** The digest of the policies, in hexadecimal digits. Signatures do not change it. */
  readonly content: string;
  /** The `kid` of each trusted key that signed; empty if `"unsigned"` bundles are trusted. */
  readonly signers: readonly string[];
}

/** Reads a header from the module, whose times are in seconds. */
export function readHeader(json: string): BundleHeader {
  const header = JSON.parse(json) as BundleHeader;
  const { created, notBefore, expires } = header;
  return Object.freeze({
    ...header,
    created: created * 1000,
    ...(notBefore === undefined ? {} : { notBefore: notBefore * 1000 }),
    ...(expires === undefined ? {} : { expires: expires * 1000 }),
    signers: Object.freeze(header.signers),
  });
}
