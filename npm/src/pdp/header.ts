// What is known of an opened bundle beside its policies.

/** What the signers of a bundle said of it. Where `"unsigned"` bundles are trusted, nobody vouches for it. */
export interface BundleHeader {
  readonly name: string;
  /** Keep the highest that you have seen, and give it as `minRevision` to the next `open`. */
  readonly revision: number;
  /** When it was made, in milliseconds since 1970; 0 if nobody said. */
  readonly created: number;
  /** From when on it may be opened, in milliseconds since 1970. */
  readonly notBefore?: number;
  /** From when on it may no longer be opened, and an open PDP denies everything, in milliseconds since 1970. */
  readonly expires?: number;
  /** What an error in a condition means: it denies, or the condition counts as false. */
  readonly evaluation: "strict" | "lenient";
  /** The digest of the policies, in hexadecimal digits. Signing does not change it. */
  readonly content: string;
  /** The `kid` of each trusted key that signed; none where `"unsigned"` bundles are trusted. */
  readonly signers: readonly string[];
}

/** Reads a header as the module writes it: its times are in seconds. */
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
