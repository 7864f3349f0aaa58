// The types of deciding again.

import type { LoadOptions } from "../pdp/load-options.ts";
import type { SecretJwk } from "../pdp/keys.ts";
import type { Trust } from "../pdp/terms.ts";
import type { Bundle } from "../pdp/types.ts";
import type { Answer, DecisionRecord, TargetRecord } from "./log-types.ts";

/** The options of `replay`. */
export interface ReplayOptions {
  /** The bundles that were in force. Each is found by the digest of its content, and opened at a time when it was valid. */
  readonly bundles: readonly Bundle[];
  /** The keys whose bundles may be opened, as for `open`. */
  readonly trust: Trust;
  /** The key of sealed bundles; then all must be sealed. */
  readonly unsealKey?: Uint8Array | SecretJwk | undefined;
  /** A bundle that decides instead of those that were in force: the outcomes are what it would have changed. */
  readonly with?: Bundle | undefined;
  /** The keys whose bundles may decide instead. Default: those of `trust`, without `unsealKey` if they are given. */
  readonly withTrust?: Trust | undefined;
  /** The code of the module that decides, as for `open`. */
  readonly code?: LoadOptions["code"];
}

/** A recorded decision with the answers that are given again. */
export interface ReplayedDecision {
  /** The number of the record. */
  readonly number: number;
  readonly record: DecisionRecord;
  /** In the order of the outcomes of the record. */
  readonly outcomes: readonly ReplayedOutcome[];
}

/** One recorded answer, beside the one that is given again. */
export type ReplayedOutcome =
  | {
      readonly kind: "same" | "different";
      /** The recorded answer. One that a rate limit denied was allowed by the policies, and is compared as such. */
      readonly answer: Answer;
      readonly target: TargetRecord;
      /** The answer that is given again. */
      readonly isAllowed: boolean;
    }
  | {
      readonly kind: "not-replayed";
      readonly answer: Answer;
      /** `undefined` if the segment does not define the target. */
      readonly target: TargetRecord | undefined;
      readonly why: Absence;
    };

/**
 * Why an answer is not given again.
 *
 * - `no-evidence`: the record has none.
 * - `too-large`: the evidence was longer than a record holds.
 * - `digest`: the record has a digest of the evidence alone.
 * - `sealed`: the evidence is sealed beside the log, and `wardgate log replay` opens it.
 * - `no-target`: the target was defined in an earlier segment.
 * - `no-policies`: the bundle that decided was not given.
 * - `not-known`: the other bundle reads what the evidence lacks.
 * - `time`: the answer changes within the millisecond of the record, and conditions read whole milliseconds in JavaScript.
 * - `unreadable`: the evidence is none of a decision by these policies about this target.
 */
export type Absence = "digest" | "no-evidence" | "no-policies" | "no-target" | "not-known" | "sealed" | "time" | "too-large" | "unreadable";
