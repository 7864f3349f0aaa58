// Reads refusals of the modules, which throw an array `[kind, detail, code]` instead of an `Error`.

import { WardgateError, type Code } from "./errors.ts";

/** Returns the error for a refusal of the module; `undefined` if the exception is not a refusal. */
export function refusal(thrown: unknown): { readonly error: unknown } | undefined {
  if (!Array.isArray(thrown)) return undefined;
  const [kind, detail, code] = thrown as readonly unknown[];
  switch (kind) {
    case "type":
      return { error: new TypeError(String(detail)) };
    case "range":
      return { error: new RangeError(String(detail)) };
    case "refused":
      return { error: new WardgateError(code as Code, String(detail)) };
    case "thrown":
      return { error: detail };
    default:
      return undefined;
  }
}
