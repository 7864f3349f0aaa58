// The calls that cross into the module, the mirror of `crates/wasm/src/lib.rs`.
//
// A refusal leaves the module as an array `[kind, ...]`. Anything else that leaves it as an exception
// is a trap, and the instance behind it must not be used again.

import * as glue from "../wasm/wardgate_bg.js";

import { WardgateError, type Code } from "./errors.ts";
import { columnsAt, frameAt, NO_FRAME, type Columns, type Deciding, type Frame } from "./frame.ts";

export { check, close, explain, isAllowed, open, planList, planOf, principals, reload } from "../wasm/wardgate_bg.js";

/** Makes a fresh instance the one that every call goes to; the one before is lost. */
export function start(module: WebAssembly.Module): void {
  // The glue replaces its view of the memory only when the buffer behind it is detached.
  // Without this, strings would be written into the memory of the lost instance.
  detach();
  const instance = new WebAssembly.Instance(module, { "./wardgate_bg.js": { ...glue } });
  exports = instance.exports as unknown as Exports;
  glue.__wbg_set_wasm(instance.exports);
  exports.__wbindgen_start();
}

/** Takes the memory away from every view of it. Growing by nothing does that. */
export function detach(): void {
  exports?.memory.grow(0);
}

/** The frame of the instance in use. It lives until the memory grows; then this returns a new one. */
export function frame(): Frame {
  if (exports !== undefined && views.words.length === 0) {
    views = frameAt(exports.memory.buffer, exports.frame(), exports);
  }
  return views;
}

/**
 * The columns of the instance in use, like the frame. The first call may make the memory grow; `null` if
 * it cannot.
 */
export function columns(): Columns | null {
  if (exports !== undefined && (batch === null || batch.words.length === 0)) {
    const address = exports.columns();
    batch = address === 0 ? null : columnsAt(exports.memory.buffer, address);
  }
  return batch;
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

interface Exports extends Deciding {
  readonly memory: WebAssembly.Memory;
  readonly __wbindgen_start: () => void;
  readonly frame: () => number;
  readonly columns: () => number;
}

let exports: Exports | undefined;
let views: Frame = NO_FRAME;
let batch: Columns | null = null;
