// The types of the rules of SPOCP. Nothing here loads their module.

import type { LoadOptions } from "./load-options.ts";

/**
 * An S-expression as text in the advanced form, such as `(http (page index.html))`, or in the
 * canonical form, such as `(4:http(4:page10:index.html))`, or the bytes of either. An atom that is
 * not text is written as bytes, or in the advanced form between `#` or `|`.
 */
export type SpocpQuery = string | Uint8Array | ArrayBuffer;

/** A rule in its normal form. */
export interface SpocpRule {
  /** The index among the rules of the bundle, counted from 0. */
  readonly number: number;
  /** The advanced form, for people. */
  readonly text: string;
  /** The canonical form, which is unique. */
  readonly canonical: Uint8Array;
}

/**
 * The rules of SPOCP in the bundle that a PDP has in use. A query without a matching rule is
 * denied. After the bundle has expired every query is denied, unless the PDP was opened with
 * `afterExpiry: "decide"`.
 *
 * Every method throws a `TypeError` if the query has the wrong kind, a `RangeError` if a string has
 * an unpaired surrogate, and a `WardgateError` otherwise: with the code `malformed-query`, its
 * `offset` is the byte of the error.
 */
export interface SpocpRules {
  /** The number of rules. */
  readonly size: number;
  /**
   * Returns true if a rule allows the query.
   *
   * @example
   *     pdp.spocp.query("(http (page index.html) (action GET) (user ada))");
   */
  query(query: SpocpQuery): boolean;
  /** Returns the first rule that allows the query. */
  first(query: SpocpQuery): SpocpRule | undefined;
  /** Returns all rules that allow the query, in their order. */
  matches(query: SpocpQuery): SpocpRule[];
}

/** The module of SPOCP, for the option `spocp` of `open`. */
export interface SpocpModule {
  /**
   * Loads the code for `openSync` on runtimes where it cannot load the code itself; `open` loads it
   * in any case. The option `code` supplies the code, as for `open`. Further calls do nothing.
   *
   * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
   */
  load(options?: LoadOptions): Promise<void>;
  /** Loads the code, and returns the reader of verified rules. `open` calls this. */
  ready(): Promise<RuleReader>;
  /** Returns the reader synchronously. `openSync` calls this. */
  readyNow(): RuleReader;
}

/** Reads the rules of a verified bundle. After its expiry they allow nothing. */
export type RuleReader = (packed: Uint8Array, isExpired: () => boolean) => RuleSet;

/** The rules that a PDP owns and replaces on a reload. */
export interface RuleSet extends SpocpRules {
  /** Reads new rules, and returns a function that puts them into use. */
  offer(packed: Uint8Array): () => void;
  /** Frees the rules. */
  dispose(): void;
}
