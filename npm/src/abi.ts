// The calls that cross into the module, the mirror of `crates/wasm/src/lib.rs`.
//
// A refusal leaves the module as an array `[kind, ...]`. Anything else that leaves it as an exception
// is a trap, and the instance behind it must not be used again.

import * as glue from "../wasm/wardgate_bg.js";

import { WardgateError, type Code } from "./errors.ts";

export { check, close, explain, isAllowed, open, reload } from "../wasm/wardgate_bg.js";

/** Makes a fresh instance the one that every call goes to; the one before is lost. */
export function start(module: WebAssembly.Module): void {
  // The glue replaces its view of the memory only when the buffer behind it is detached. Growing by
  // nothing detaches it; without this, strings would be written into the memory of the lost instance.
  memory?.grow(0);
  const instance = new WebAssembly.Instance(module, { "./wardgate_bg.js": { ...glue } });
  const exports = instance.exports as unknown as Exports;
  glue.__wbg_set_wasm(instance.exports);
  exports.__wbindgen_start();
  memory = exports.memory;
}

/** What an exception out of the module means: an error for the caller, or `undefined` for a trap. */
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

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __wbindgen_start: () => void;
}

let memory: WebAssembly.Memory | undefined;
