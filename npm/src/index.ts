// The public API of the package: open a bundle, and decide requests with the PDP.

export type { CheckManyOptions } from "./pdp/check-many.ts";
export { WardgateError, type Code, type Refusal } from "./base/errors.ts";
export { textSet } from "./base/hashed.ts";
export { expiryOf, type Expiry } from "./pdp/expiry.ts";
export { hash, hashMany } from "./pdp/hashing.ts";
export { load, open, openSync } from "./pdp/open.ts";
export type { LoadOptions } from "./pdp/load-options.ts";
export { createWatcher, type Outcome, type Watcher } from "./watcher/watcher.ts";
export { verifyBatch, type SignedMessage } from "./pdp/signatures.ts";
export { warmUp, type WarmUpOptions } from "./pdp/warm-up.ts";
export type { BundleHeader } from "./pdp/header.ts";
export type { Algorithm, PublicJwk, PublicKey, RawKey, SecretJwk } from "./pdp/keys.ts";
export type { OpenNowOptions, OpenOptions } from "./pdp/options.ts";
export type { Decided, DecidedAction, DecidedSearch, DecisionListener, DecisionLog } from "./pdp/recording.ts";
export type { Address, ByteReader, ByteStream, CodeNow, CodeSource, CompiledModule, FetchResponse } from "./base/web.ts";
export type { Fetch, FetchInit, Polling, Timers, WatcherListener, WatcherOptions } from "./watcher/watcher-options.ts";
export type { BundleArrival } from "./pdp/source.ts";
export type { Trust, TrustedKeys } from "./pdp/terms.ts";
export type {
  ActionRequest,
  AttributeHolder,
  Attributes,
  AttributeValue,
  AuxData,
  CheckRequest,
  Decisions,
  FilterRequest,
  Principal,
  RequestOfMany,
  Resource,
  RowsRequest,
} from "./pdp/request-types.ts";
export type {
  Accessors,
  Bundle,
  BundleSource,
  Pdp,
  PreparedAction,
  PreparedPrincipal,
  PreparedQuestion,
  ReloadOptions,
  Target,
} from "./pdp/types.ts";
export type * from "./pdp/policy-types.ts";
export type {
  ActionDecision,
  Decision,
  Effect,
  EvaluationError,
  Explanation,
  Json,
  Output,
  OutputOf,
  Reason,
  Step,
  ValidationError,
} from "./pdp/decision.ts";
