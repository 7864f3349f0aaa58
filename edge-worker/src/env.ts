// The environment of a deployment: bindings, variables and secrets. `wrangler.jsonc` lists them
// with examples.

import type { LimitNamespace } from "wardgate/ratelimit";

/**
 * Every member is optional, because deployments are not type-checked; `config.ts` reports missing
 * ones.
 */
export interface Env {
  /** The source of the bundle: `kv:KEY`, `r2:KEY` or `asset:/PATH`. */
  readonly BUNDLE?: string;
  readonly POLICIES_KV?: KVNamespace;
  readonly POLICIES_R2?: R2Bucket;
  readonly ASSETS?: Fetcher;
  /** The public keys of the signers of bundles: the option `trust` of `open`, as JSON. */
  readonly TRUSTED_KEYS?: unknown;
  /** The required name of bundles. */
  readonly BUNDLE_NAME?: string;
  /** The lowest accepted revision. */
  readonly MIN_REVISION?: string | number;
  /** The behaviour after the bundle in use has expired: `deny` or `decide`. Default: `deny`. */
  readonly AFTER_EXPIRY?: string;
  /** Secret: the key of sealed bundles, a JSON Web Key. */
  readonly UNSEAL_KEY?: unknown;
  /** The seconds between two polls for a new bundle and a new index. */
  readonly REFRESH_SECONDS?: string | number;
  /** Secret: the names of callers and their bearer tokens, `{"shop": "a long random text"}`. */
  readonly AUTH_TOKENS?: unknown;
  /** The conditions for signed tokens; see `JwtSettings`. */
  readonly AUTH_JWT?: unknown;
  /**
   * The subjects and resources for searches: a JSON list under `subject/TYPE` and `resource/TYPE`.
   */
  readonly INDEX?: KVNamespace;
  /**
   * Secret: 32 random bytes or more in base64url. Without it searches return all results at once.
   */
  readonly PAGE_KEY?: string;
  /** The URL of this PDP in its metadata. If it has a path, the endpoints are below that path. */
  readonly PDP_URL?: string;
  /** The sink of the decision log: `console`, or `queue` or `frames` for the binding `DECISIONS`. */
  readonly DECISION_LOG?: string;
  readonly DECISIONS?: Queue;
  /** The bucket of the frames, for a worker that consumes the queue of its frames. */
  readonly DECISIONS_R2?: R2Bucket;
  /** The fraction of the decisions in the log, from 0 to 1. */
  readonly DECISION_SAMPLE?: string | number;
  /** The form of the ids of subjects and resources in frames: `clear`, `pseudonym` or `absent`. Default: `clear`. */
  readonly DECISION_IDS?: string;
  /** Secret: the key of pseudonyms, 32 random bytes in base64url. */
  readonly DECISION_KEY?: string;
  /** The evidence in frames, from which decisions can be made again: `absent` or `clear`. Default: `absent`. */
  readonly DECISION_EVIDENCE?: string;
  /**
   * The objects of rate limits in policies, whose class is `LimitObject`. Without them a bundle with limits is
   * refused.
   */
  readonly LIMITS?: LimitNamespace;
  /** The longest wait for an object in milliseconds. Default: 500. */
  readonly LIMITS_DEADLINE?: string | number;
  /**
   * The part of each quota that an instance admits while the objects are away, above 0 and at most 1. Default: 1.
   */
  readonly LIMITS_SHARE?: string | number;
  /** The dataset with a data point for each request. */
  readonly METRICS?: AnalyticsEngineDataset;
}
