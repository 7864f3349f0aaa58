// What a caller holds of rules of SPOCP. Nothing here loads their module.

import type { LoadOptions } from "../wasm/code.ts";

/**
 * An S-expression: text in the advanced form, such as `(http (page index.html))`, or in the canonical form, such as
 * `(4:http(4:page10:index.html))`, or the bytes of either. An atom that is not text is written as bytes, or in the
 * advanced form between `#` or `|`.
 */
export type SpocpQuery = string | Uint8Array | ArrayBuffer;

/** A rule, in its normal form. */
export interface SpocpRule {
  /** Its place among the rules of the bundle, counted from 0. */
  readonly number: number;
  /** The advanced form, for people. */
  readonly text: string;
  /** The canonical form, which is unique. */
  readonly canonical: Uint8Array;
}

/**
 * The rules of SPOCP in the bundle that a PDP has in use. Without a rule nothing is allowed, and nothing after the
 * bundle has expired, unless it was opened with `afterExpiry: "decide"`.
 *
 * Every method throws a `TypeError` for a query of the wrong kind, a `RangeError` for a string with half a character
 * in it, and a `WardgateError` for everything else: with the code `malformed-query`, its `offset` says at which byte.
 */
export interface SpocpRules {
  /** How many rules there are. */
  readonly size: number;
  /** Whether a rule allows the query. */
  query(query: SpocpQuery): boolean;
  /** Returns the first rule that allows the query. */
  first(query: SpocpQuery): SpocpRule | undefined;
  /** Returns all rules that allow the query, in their order. */
  matches(query: SpocpQuery): SpocpRule[];
}

/** The module of SPOCP, for the option `spocp` of `open`. */
export interface SpocpModule {
  /**
   * Loads the code, so that `openSync` has it where it cannot load it itself; `open` does so by itself. With the option
   * `code` it is had from elsewhere, as that of the runtime is. Once it is loaded, this does nothing.
   *
   * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
   */
  load(options?: LoadOptions): Promise<void>;
  /** What `open` calls: loads the code, and returns what reads rules that were verified. */
  ready(): Promise<RuleReader>;
  /** The same for `openSync`. */
  readyNow(): RuleReader;
}

/** Reads the rules of a bundle that was verified. They allow nothing once it has expired. */
export type RuleReader = (packed: Uint8Array, isExpired: () => boolean) => RuleSet;

/** What a PDP holds. */
export interface RuleSet extends SpocpRules {
  /** Reads other rules; those take the place of these when the function that is returned is called. */
  offer(packed: Uint8Array): () => void;
  dispose(): void;
}
