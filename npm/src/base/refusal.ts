// How the modules refuse: they throw an array `[kind, what, code]`, and no `Error`.

import { WardgateError, type Code } from "./errors.ts";

/** What a refusal by the module means to the caller; `undefined` if the exception is none. */
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
