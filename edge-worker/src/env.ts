// What a deployment gives the worker: bindings, variables and secrets. `wrangler.jsonc` lists them with examples.

/** Everything is optional here, because nobody checks a deployment; `config.ts` says what is missing. */
export interface Env {
  /** Where the bundle is: `kv:KEY`, `r2:KEY` or `asset:/PATH`. */
  readonly BUNDLE?: string;
  readonly POLICIES_KV?: KVNamespace;
  readonly POLICIES_R2?: R2Bucket;
  readonly ASSETS?: Fetcher;
  /** The public keys that bundles are signed with: what the option `trust` of `open` takes, as JSON. */
  readonly TRUSTED_KEYS?: unknown;
  /** The name that bundles must have. */
  readonly BUNDLE_NAME?: string;
  /** The lowest revision that is accepted. */
  readonly MIN_REVISION?: string | number;
  /** What is decided once the bundle in use has expired: `deny` unless given, or `decide`. */
  readonly AFTER_EXPIRY?: string;
  /** Secret: the key of sealed bundles, a JSON Web Key. */
  readonly UNSEAL_KEY?: unknown;
  /** Seconds between two looks for a new bundle and a new index. */
  readonly REFRESH_SECONDS?: string | number;
  /** Secret: callers and their bearer tokens, `{"shop": "a long random text"}`. */
  readonly AUTH_TOKENS?: unknown;
  /** Which signed tokens are accepted; see `JwtSettings`. */
  readonly AUTH_JWT?: unknown;
  /** Subjects and resources for searches: a JSON list under `subject/TYPE` and `resource/TYPE`. */
  readonly INDEX?: KVNamespace;
  /** Secret: 32 random bytes or more in base64url. Without it searches return everything at once. */
  readonly PAGE_KEY?: string;
  /** The URL of this PDP in its metadata; where it has a path, the endpoints are below it. */
  readonly PDP_URL?: string;
  /** Where decisions are logged: `console`, or `queue` for the binding `DECISIONS`. */
  readonly DECISION_LOG?: string;
  readonly DECISIONS?: Queue;
  /** The part of the decisions that is logged, from 0 to 1. */
  readonly DECISION_SAMPLE?: string | number;
  /** Where every request leaves a data point. */
  readonly METRICS?: AnalyticsEngineDataset;
}
