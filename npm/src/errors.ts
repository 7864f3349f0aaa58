// The one error class of the package. Its codes never change meaning; its messages may.

/**
 * - `accessors`: the accessor module was emitted for another bundle.
 * - `bundle`: the bytes are not a bundle that may be opened.
 * - `disposed`: the PDP was used after it was disposed of.
 * - `internal`: a fault of Wardgate itself. Nothing was decided, and the PDP has recovered.
 */
export type Code = "accessors" | "bundle" | "disposed" | "internal";

/** What goes wrong although the arguments have the right kinds and values. */
export class WardgateError extends Error {
  readonly code: Code;

  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "WardgateError";
    this.code = code;
  }
}
