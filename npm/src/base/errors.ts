// The one error class of the package. The meaning of a code is stable; the text of a message is
// not.

/**
 * The reason for which a bundle was refused. The native host and the command refuse the same bytes
 * by the same name.
 *
 * Kind of bytes:
 * - `not-a-bundle`: they do not start like a bundle.
 * - `unsupported-version`, `unsupported-kind`: a newer Wardgate wrote them.
 * - `sealed`: they are sealed, and `unsealKey` is missing.
 * - `not-sealed`: `unsealKey` was given, and they are not sealed.
 * - `delta`: a delta was opened. Give it to `reload` of the PDP that has its base.
 * - `not-a-delta`: a delta was expected.
 * - `wrong-base`: the delta is for another bundle than the one in use; fetch the whole bundle.
 *
 * Damage, as by a network or disk:
 * - `too-large`: more bytes than `maxBytes`, or a packet of MQTT larger than its limit.
 * - `wrong-length`: cut off, or with additional bytes.
 * - `wrong-digest`: a byte was changed.
 * - `malformed-index`, `malformed-content`, `malformed-envelope`, `malformed-header`,
 *   `malformed-seal`, `not-text`, `malformed`, `malformed-rules`, `wrong-evaluation`: the digests fit, but the content is
 *   impossible; no compiler wrote it.
 * - `forged`: the seal was changed, or made with another key.
 *
 * Signatures:
 * - `not-signed`: there is no signature.
 * - `unknown-signer`: no signature is by a key in `trust`.
 * - `wrong-signature`: a signature in the name of a trusted key is not by it, or not over these
 *   bytes.
 * - `wrong-algorithm`: a signature in the name of a trusted key is of another algorithm.
 * - `missing-signer`: a key in `required` has not signed.
 * - `too-few-signers`: fewer trusted keys than `atLeast` have signed.
 * - `too-many-signatures`: more signatures than the limit.
 *
 * Time, revision and name:
 * - `not-yet-valid`, `expired`: `now` is outside of the validity period.
 * - `time-required`: they have a validity period, and no time was given; the package always gives
 *   one.
 * - `old-revision`: a revision below `minRevision`, or below the one in use; an old bundle is
 *   replayed.
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
  | "malformed-content"
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
 * The code of a {@link WardgateError}.
 *
 * - a {@link Refusal}: a bundle was refused. After a failed `reload` the PDP keeps its bundle.
 * - `accessors`: the accessor module was emitted for another bundle, or imports another copy of the
 *   package.
 * - `disposed`: the PDP or set of filters was used after `dispose`.
 * - `invalid-filter`, `invalid-topic`: a text is no topic filter or topic name of MQTT.
 * - `malformed-key`: a text is no key of a decision log.
 * - `malformed-log`: a segment of a decision log is not as written; `offset` is the position.
 * - `malformed-packet`: bytes are no packet of MQTT; `offset` is the position.
 * - `malformed-query`: a query to rules of SPOCP is malformed; `offset` is the position.
 * - `not-fetched`: an address, response or stream did not deliver its content.
 * - `not-loaded`: the code of the module is missing, or not loaded yet and not available
 *   synchronously.
 * - `protocol-error`: a packet of MQTT breaks a rule of the protocol, and `offset` is the position;
 *   or a set of filters is full.
 * - `refused-proof`: bytes are no proof of a record, or do not prove it.
 * - `wrong-code`: the code is not that of the module, or does not run on this engine.
 * - `internal`: a fault of Wardgate. No decision was made, and the PDP has recovered.
 */
export type Code =
  | Refusal
  | "accessors"
  | "disposed"
  | "internal"
  | "invalid-filter"
  | "invalid-topic"
  | "limits"
  | "malformed-key"
  | "malformed-log"
  | "malformed-packet"
  | "malformed-query"
  | "not-fetched"
  | "not-loaded"
  | "protocol-error"
  | "refused-proof"
  | "wrong-code";

/** An error that is not about the kind or range of an argument. */
export class WardgateError extends Error {
  /** The stable code of the error. */
  readonly code: Code;
  /** The byte at which a query, packet or segment is malformed, counted from 0; strings count in UTF-8. */
  declare readonly offset?: number;
  /** The reason code of MQTT 5.0 for the error, where the error is about MQTT. */
  declare readonly reason?: number;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WardgateError";
    this.code = code;
  }

  /** The address of the section that explains the code, such as `docs/BUNDLE.md#expired`. */
  get page(): string {
    return `${DOCUMENTS}${OF_PACKAGE.test(this.code) ? "package-errors" : "BUNDLE"}.md#${this.code}`;
  }
}

/**
 * How the codes begin that `docs/package-errors.md` explains; the others are refusals of bundles. Every program pays for these
 * bytes, so it is no list.
 */
const OF_PACKAGE = /^(acc|dis|in|lim|pro|ref|malformed-[klpq]|not-[fl]|wrong-c)/;

/** The address of the documents. They are published nowhere yet, so it is their path in the repository. */
const DOCUMENTS = "docs/";
