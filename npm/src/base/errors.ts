// The one error class of the package. Its codes never change meaning; its messages may.

/**
 * Why bytes were refused. The native host and the command refuse the same bytes by the same name.
 *
 * What the bytes are:
 * - `not-a-bundle`: they do not begin like a bundle.
 * - `unsupported-version`, `unsupported-kind`: a newer Wardgate wrote them.
 * - `sealed`: they are sealed, and no `unsealKey` was given.
 * - `not-sealed`: an `unsealKey` was given, and they are not sealed.
 * - `delta`: a delta was opened. It goes to `reload` of the PDP that has its base.
 * - `not-a-delta`: something else stands where a delta must.
 * - `wrong-base`: the delta is for another bundle than the one in use; fetch the whole bundle.
 *
 * Whether they are whole, as a network or disk may have damaged them:
 * - `too-large`: more bytes than `maxBytes`.
 * - `wrong-length`: cut off, or something was added.
 * - `wrong-digest`: a byte was changed.
 * - `malformed-index`, `malformed-envelope`, `malformed-header`, `malformed-seal`, `not-text`, `malformed`,
 *   `malformed-rules`, `wrong-evaluation`: the digests fit, and what they are the digests of cannot be; no compiler wrote it.
 * - `forged`: the seal was changed, or made with another key.
 *
 * Who vouches for them:
 * - `not-signed`: nobody has signed.
 * - `unknown-signer`: no signature is by a key in `trust`.
 * - `wrong-signature`: a signature in the name of a trusted key is not by it, or not over these bytes.
 * - `wrong-algorithm`: a signature in the name of a trusted key is of another algorithm.
 * - `missing-signer`: a key in `required` has not signed.
 * - `too-few-signers`: fewer trusted keys than `atLeast` have signed.
 * - `too-many-signatures`: more signatures than are looked at.
 *
 * Whether they are meant for here and now:
 * - `not-yet-valid`, `expired`: `now` is outside of the time for which they were signed.
 * - `time-required`: they are valid for a time, and no time was given; the package always gives one.
 * - `old-revision`: a revision below `minRevision`, or below the one in use; somebody replays an old bundle.
 * - `wrong-name`: another name than `name`.
 */
export type Refusal =
  | "delta"
  | "expired"
  | "forged"
  | "malformed"
  | "malformed-envelope"
  | "malformed-header"
  | "malformed-index"
  | "malformed-rules"
  | "malformed-seal"
  | "missing-signer"
  | "not-a-bundle"
  | "not-a-delta"
  | "not-sealed"
  | "not-signed"
  | "not-text"
  | "not-yet-valid"
  | "old-revision"
  | "sealed"
  | "time-required"
  | "too-few-signers"
  | "too-large"
  | "too-many-signatures"
  | "unknown-signer"
  | "unsupported-kind"
  | "unsupported-version"
  | "wrong-algorithm"
  | "wrong-base"
  | "wrong-digest"
  | "wrong-evaluation"
  | "wrong-length"
  | "wrong-name"
  | "wrong-signature";

/**
 * - a {@link Refusal}: the bytes were refused. After a `reload` the PDP goes on with what it had.
 * - `accessors`: the accessor module was emitted for another bundle, or imports another copy of the package.
 * - `disposed`: the PDP was used after it was disposed of.
 * - `malformed-query`: what should be a query to rules of SPOCP is none; `offset` says where.
 * - `not-fetched`: an address, response or stream did not give what was to come from it.
 * - `not-loaded`: the code of the module is not where it should be, or not there yet and cannot be had at once.
 * - `wrong-code`: what should be the code of the module is something else, or does not run on this engine.
 * - `internal`: a fault of Wardgate itself. Nothing was decided, and the PDP has recovered.
 */
export type Code =
  | Refusal
  | "accessors"
  | "disposed"
  | "internal"
  | "malformed-query"
  | "not-fetched"
  | "not-loaded"
  | "wrong-code";

/** What goes wrong although the arguments have the right kinds and values. */
export class WardgateError extends Error {
  readonly code: Code;
  /** The byte at which a query is malformed, counted from 0; a string counts in UTF-8. */
  declare readonly offset?: number;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WardgateError";
    this.code = code;
  }
}
