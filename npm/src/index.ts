// The public face of the package: open a bundle, ask the PDP.

export type { CheckManyOptions } from "./check-many.ts";
export { WardgateError, type Code, type Refusal } from "./errors.ts";
export { expiryOf, type Expiry } from "./expiry.ts";
export { hash, hashMany } from "./hashing.ts";
export { load, open, openSync, type LoadOptions } from "./open.ts";
export { createWatcher, type Outcome, type Watcher } from "./watcher.ts";
export { verifyBatch, type SignedMessage } from "./signatures.ts";
export { warmUp, type WarmUpOptions } from "./warm-up.ts";
export type { BundleHeader } from "./header.ts";
export type { Algorithm, PublicJwk, PublicKey, RawKey, SecretJwk } from "./keys.ts";
export type { OpenNowOptions, OpenOptions, ReloadOptions } from "./options.ts";
export type { Address, ByteReader, ByteStream, CodeNow, CodeSource, CompiledModule, FetchResponse } from "./web.ts";
export type { Fetch, FetchInit, Polling, Timers, WatcherListener, WatcherOptions } from "./watcher-options.ts";
export type { Trust, TrustedKeys } from "./terms.ts";
export type {
  Accessors,
  ActionRequest,
  AttributeHolder,
  AttributeValue,
  Attributes,
  AuxData,
  Bundle,
  BundleSource,
  CheckRequest,
  FilterRequest,
  Pdp,
  PreparedAction,
  PreparedPrincipal,
  PreparedQuestion,
  Principal,
  Resource,
  Topic,
} from "./types.ts";
export type {
  ActionDecision,
  Decision,
  Effect,
  EvaluationError,
  Explanation,
  Json,
  Output,
  Reason,
  Step,
  ValidationError,
} from "./decision.ts";
