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
import type { Message } from "./request.ts";

export const actions = markCall(glue.actions);
export const apply = markCall(glue.apply);
export const close = markCall(glue.close);
export const header = markCall(glue.header);
export const isDelta = markCall(glue.isDelta);
export const open = markCall(glue.open);
export const planFor = markCall(glue.planFor);
export const planKinds = markCall(glue.planKinds);
export const answerText = markCall(glue.answerText);
export const planList = markCall(glue.planList);
export const planOf = markCall(glue.planOf);
export const principals = markCall(glue.principals);
export const readNames = markCall(glue.readNames);
export const reload = markCall(glue.reload);
export const textOf = markCall(glue.textOf);
export const unseal = markCall(glue.unseal);

/** Decides the one action of a message. */
export function isAllowed(handle: number, message: Message, now: number): boolean {
  const length = put(message);
  callState.isInside = true;
  const answer = glue.isAllowed(handle, length, now);
  if (answer > 1) glue.lastFailure();
  callState.isInside = false;
  return answer === 1;
}

/** Decides the actions of a message. `shared` encodes the shared parts, see `sharing.ts`. */
export function check(handle: number, message: Message, now: number, shared: number): Answer {
  const length = put(message);
  callState.isInside = true;
  const address = active!.check(handle, length, now, shared) >>> 0;
  if (address === 0) glue.lastFailure();
  callState.isInside = false;
  return answerAt(address);
}

/** The steps that remain for several decisions. */
export interface Budget {
  left: number;
}

/** Checks a message like {@link check}, with steps of the budget. */
export function checkWithin(handle: number, message: Message, now: number, shared: number, budget: Budget): Answer {
  return within(budget, () => check(handle, message, now, shared));
}

/**
 * Checks a message and returns the decision as JSON. Steps beyond the own bound of the decision are
 * taken from the budget.
 */
export function checkText(handle: number, message: Message, now: number, shared: number, budget?: Budget): string {
  const length = put(message);
  if (budget === undefined) return checkOne(handle, length, now, shared);
  return within(budget, () => checkOne(handle, length, now, shared));
}

/** Makes a call whose steps beyond the own bound of a decision are taken from the budget. */
function within<T>(budget: Budget, call: () => T): T {
  active!.shareSteps(budget.left);
  try {
    return call();
  } finally {
    const left = active!.shareSteps(OWN_STEPS) >>> 0;
    // A fresh instance has no bound.
    budget.left = Math.min(budget.left, left);
  }
}

const checkOne = markCall(glue.checkText);
/** The module reads this number as unbounded: all bits of a word. */
const OWN_STEPS = 2 ** 32 - 1;

/** Decides the one action of a message and returns the explanation as JSON. */
export function explain(handle: number, message: Message, now: number): string {
  return explainOne(handle, put(message), now);
}

const explainOne = markCall(glue.explain);

/** Returns the parts that a request with this word of a sharer need not contain. */
export function sharedParts(shared: number): number {
  return active?.sharedParts(shared) ?? 0;
}

/** A decision in words, the mirror of `crates/wasm/src/answer.rs`; valid until the next answer. */
export interface Answer {
  /** The offsets of the words of `crates/engine/src/decide/coded.rs`: see [`wordAt`]. */
  readonly start: number;
  readonly end: number;
  /** The whole decision if there are no words, else its outputs and errors; may be empty. */
  readonly json: string;
  /** The offset of the words of the limits of the table; 0 if it has none. */
  readonly limits: number;
  /** The address of the texts of charges, whose words follow those of the decision. */
  readonly text: number;
}

/** Returns a word of the memory. */
export function wordAt(offset: number): number {
  // The memory may have grown, which moves no word.
  if (memoryWords.length === 0) memoryWords = new Uint32Array(active!.memory.buffer);
  return memoryWords[offset]!;
}

function answerAt(address: number): Answer {
  const start = (address >>> 2) + ANSWER_HEAD;
  const [count, length, at] = [wordAt(start - 5), wordAt(start - 4), wordAt(start - 3)];
  const json = length === 0 ? "" : decoder.decode(bytesAt(at, length));
  return { start, end: start + count, json, limits: wordAt(start - 2) >>> 2, text: wordAt(start - 1) };
}

/** Returns a view of bytes of the memory, valid until the memory grows. */
export function bytesAt(address: number, length: number): Uint8Array {
  return new Uint8Array(active!.memory.buffer, address, length);
}

/** Returns the source text of a program of a table; it is empty if it was left out. */
export function sourceOf(handle: number, program: number): string {
  return textOf(handle, program + SOURCES);
}

/** The first id of a text that is the source of a program. */
const SOURCES = 2 ** 31;

/**
 * The words before those of the decision: their number, length and address of the JSON, the address of the
 * words of limits, and that of the texts of charges.
 */
const ANSWER_HEAD = 5;

/** Copies a message into the module, and returns its length. */
function put({ bytes, length }: Message): number {
  inputBuffer(length).bytes.set(bytes.subarray(0, length));
  return length;
}

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
  readonly check: (handle: number, length: number, now: number, shared: number) => number;
  readonly sharedParts: (shared: number) => number;
  readonly shareSteps: (steps: number) => number;
  readonly allocations: () => number;
}

let active: Exports | undefined;
let views: Frame = NO_FRAME;
let batch: Columns | null = null;
let view = new Uint8Array();
let memoryWords = new Uint32Array();
const decoder = new TextDecoder();

/** The name under which the module imports its glue. */
const GLUE = "./wardgate_bg.js";
/** The exports that identify the module, and distinguish this version from most others. */
const EXPORTS = ["memory", "__wbindgen_start", "frame", "columns", "room", "hash", "hashMany", "prepareKey", "verify", "rulesAt", "check", "sharedParts", "shareSteps"];
const DIGEST = 32;
/** Memory that another thread shares may grow at any moment, and with it a view of it. */
const GREW = "a message grew while it was read";
/** The smallest size of the buffer in the module. */
const MIN_INPUT_BYTES = 65_536;
/** The largest requested size: the module could not hold a larger buffer beside its other data. */
const MAX_INPUT_BYTES = 2 ** 30;
