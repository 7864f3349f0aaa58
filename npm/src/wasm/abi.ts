// The calls into the module, the mirror of `crates/wasm/src/lib.rs`.
//
// A refusal leaves the module as an array `[kind, ...]`. Any other exception from inside the module
// is a trap, and its instance must not be used again. The class of an exception does not tell where
// it comes from (an exhausted stack is a `RangeError` like many others), so each call marks the
// time that it spends in the module.

import * as glue from "../../wasm/wardgate_bg.js";

import { mismatchOf } from "./code.ts";
import { columnsAt, frameAt, NO_FRAME, type Columns, type DecideCalls, type Frame } from "./frame.ts";
import { callState } from "./reentrancy.ts";

export const actions = markCall(glue.actions);
export const apply = markCall(glue.apply);
export const close = markCall(glue.close);
export const explain = markCall(glue.explain);
export const grantedNames = markCall(glue.grantedNames);
export const header = markCall(glue.header);
export const isAllowed = markCall(glue.isAllowed);
export const isDelta = markCall(glue.isDelta);
export const open = markCall(glue.open);
export const planFor = markCall(glue.planFor);
export const planKinds = markCall(glue.planKinds);
export const planList = markCall(glue.planList);
export const planOf = markCall(glue.planOf);
export const principals = markCall(glue.principals);
export const reload = markCall(glue.reload);
export const unseal = markCall(glue.unseal);
export const verdictText = markCall(glue.verdictText);

/** The steps that remain for several decisions. */
export interface Budget {
  left: number;
}

/**
 * Checks a request and returns the decision as JSON. `shared` encodes the shared parts, see
 * `sharing.ts`. Steps beyond the own bound of the decision are taken from the budget, and so are
 * the steps for reading the request, even if it is unreadable.
 */
export function check(handle: number, request: unknown, now: number, shared: number, budget?: Budget): string {
  if (active === undefined || (budget === undefined && !isLimited)) return checkOne(handle, request, now, shared);
  // Code of the caller may check another request while this one is read: it takes no steps of this
  // budget.
  const [outer, wasLimited] = [active.shareSteps(budget?.left ?? OWN_STEPS), isLimited];
  isLimited = budget !== undefined;
  try {
    return checkOne(handle, request, now, shared);
  } finally {
    const left = active.shareSteps(outer) >>> 0;
    // A fresh instance has no bound.
    if (budget !== undefined) budget.left = Math.min(budget.left, left);
    isLimited = wasLimited;
  }
}

const checkOne = markCall(glue.check);
/** The module reads this number as unbounded: all bits of a word. */
const OWN_STEPS = 2 ** 32 - 1;
let isLimited = false;

/**
 * Returns the difference between a module and that of this package; `undefined` if there is none.
 */
export function runtimeMismatch(code: WebAssembly.Module): string | undefined {
  return mismatchOf(code, EXPORTS, ({ module, name }) => module === GLUE && name in glue);
}

/** Starts a fresh instance for all calls. The previous instance is lost. */
export function start(module: WebAssembly.Module): void {
  // The glue replaces its view of the memory only when the buffer behind it is detached. Without
  // this, strings would be written into the memory of the lost instance.
  detach();
  const instance = new WebAssembly.Instance(module, { [GLUE]: { ...glue } });
  active = instance.exports as unknown as Exports;
  glue.__wbg_set_wasm(instance.exports);
  active.__wbindgen_start();
}

/** Detaches every view of the memory, by growing it by nothing. */
export function detach(): void {
  active?.memory.grow(0);
}

/**
 * Returns the frame of the instance in use. It lives until the memory grows; then this returns a
 * new one.
 */
export function frame(): Frame {
  if (active !== undefined && views.words.length === 0) {
    views = frameAt(active.memory.buffer, active.frame(), active);
  }
  return views;
}

/**
 * Returns the columns of the instance in use, which live like the frame. The first call may grow
 * the memory; `null` if that fails.
 */
export function columns(): Columns | null {
  if (active !== undefined && (batch === null || batch.words.length === 0)) {
    callState.isInside = true;
    const address = active.columns();
    callState.isInside = false;
    batch = address === 0 ? null : columnsAt(active.memory.buffer, address);
  }
  return batch;
}

/** Returns the digest of a message. */
export function hashOne(message: Uint8Array): Uint8Array {
  const { calls, bytes } = inputBuffer(Math.max(message.length, DIGEST));
  bytes.set(message);
  callState.isInside = true;
  const status = calls.hash(message.length);
  callState.isInside = false;
  if (status === 0) throw new RangeError(GREW);
  return bytes.slice(0, DIGEST);
}

/** Returns the digests of messages, as views of one buffer. */
export function hashAll(messages: readonly Uint8Array[]): Uint8Array[] {
  const count = messages.length;
  const head = count * (DIGEST + 4);
  const { calls, bytes } = inputBuffer(messages.reduce((sum, { length }) => sum + length, head));
  // The offset of the buffer: the call allocates memory, and a detached view loses its offset.
  const start = bytes.byteOffset;
  const lengths = new Uint32Array(bytes.buffer, start + count * DIGEST, count);
  let at = head;
  messages.forEach((message, index) => {
    lengths[index] = message.length;
    bytes.set(message, at);
    at += message.length;
  });
  callState.isInside = true;
  const status = calls.hashMany(count);
  callState.isInside = false;
  if (status === 0) throw new RangeError(GREW);
  const digests = new Uint8Array(calls.memory.buffer, start, count * DIGEST).slice();
  return messages.map((_, index) => digests.subarray(index * DIGEST, (index + 1) * DIGEST));
}

/**
 * Prepares a public key unless it is prepared already, and returns its index; -1 if it is invalid.
 */
export function prepareKey(level: number, key: Uint8Array): number {
  const { calls, bytes } = inputBuffer(key.length);
  bytes.set(key);
  callState.isInside = true;
  const index = calls.prepareKey(level, key.length);
  callState.isInside = false;
  return index;
}

/** Returns true if a signature by the key at `index` is correct. */
export function verifyOne(index: number, message: Uint8Array, context: Uint8Array, signature: Uint8Array): boolean {
  const { calls, bytes } = inputBuffer(message.length + context.length + signature.length);
  bytes.set(message);
  bytes.set(context, message.length);
  bytes.set(signature, message.length + context.length);
  callState.isInside = true;
  const answer = calls.verify(index, message.length, context.length, signature.length);
  callState.isInside = false;
  return answer === 1;
}

/**
 * Returns the start of the rules of SPOCP in the bytes of an opened bundle; they end with those
 * bytes.
 */
export function rulesAt(handle: number): number {
  callState.isInside = true;
  const start = active?.rulesAt(handle) ?? 0;
  callState.isInside = false;
  return start >>> 0;
}

/** Returns the number of blocks of memory that the module has ever allocated. */
export function allocations(): number {
  return active?.allocations() ?? 0;
}

/** Returns a buffer of the module for input. The next call invalidates its contents. */
function inputBuffer(length: number): { readonly calls: Exports; readonly bytes: Uint8Array } {
  if (active === undefined) throw new Error("the module has not started");
  callState.isInside = true;
  const address = length > MAX_INPUT_BYTES ? 0 : active.room(length) >>> 0;
  callState.isInside = false;
  if (address === 0) throw new RangeError(`there is no room for ${length} bytes in the module`);
  const { buffer } = active.memory;
  if (view.buffer !== buffer || view.byteOffset !== address || view.length < length) {
    view = new Uint8Array(buffer, address, Math.max(length, MIN_INPUT_BYTES));
  }
  return { calls: active, bytes: view };
}

/** Wraps a call without callbacks to the caller: it only marks the time in the module. */
function markCall<A extends unknown[], R>(call: (...given: A) => R): (...given: A) => R {
  return (...given) => {
    callState.isInside = true;
    const result = call(...given);
    callState.isInside = false;
    return result;
  };
}

interface Exports extends DecideCalls {
  readonly memory: WebAssembly.Memory;
  readonly __wbindgen_start: () => void;
  readonly frame: () => number;
  readonly columns: () => number;
  readonly room: (length: number) => number;
  readonly hash: (length: number) => number;
  readonly hashMany: (count: number) => number;
  readonly prepareKey: (level: number, length: number) => number;
  readonly verify: (index: number, message: number, context: number, signature: number) => number;
  readonly rulesAt: (handle: number) => number;
  readonly shareSteps: (steps: number) => number;
  readonly allocations: () => number;
}

let active: Exports | undefined;
let views: Frame = NO_FRAME;
let batch: Columns | null = null;
let view = new Uint8Array();

/** The name under which the module imports its glue. */
const GLUE = "./wardgate_bg.js";
/** The exports that identify the module, and distinguish this version from most others. */
const EXPORTS = ["memory", "__wbindgen_start", "frame", "columns", "room", "hash", "hashMany", "prepareKey", "verify", "rulesAt", "shareSteps"];
const DIGEST = 32;
/** Memory that another thread shares may grow at any moment, and with it a view of it. */
const GREW = "a message grew while it was read";
/** The smallest size of the buffer in the module. */
const MIN_INPUT_BYTES = 65_536;
/** The largest requested size: the module could not hold a larger buffer beside its other data. */
const MAX_INPUT_BYTES = 2 ** 30;
