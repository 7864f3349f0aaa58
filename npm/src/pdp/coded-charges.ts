// The limits that actions meet, from words: the mirror of `crates/engine/src/decide/charges`.
//
// The module evaluates the expressions of a limit; this file makes keys and numbers of tokens of their
// values, as `charges.rs` does. A limit never falls away: a value that cannot be used is an error.

import { bytesAt, wordAt, type Answer } from "../wasm/abi.ts";
import type { LimitFacts, MeteredAction, MeteredCharge, MeteredLimit } from "../base/metered.ts";
import type { Message } from "../wasm/request.ts";
import type { TableTexts } from "./coded-decision.ts";

/** The answer, and the place in its words and texts that is read next. */
interface Cursor {
  readonly limits: number;
  readonly texts: TableTexts;
  /** Returns the source text of a program; it may be empty. */
  readonly sourceOf: (program: number) => string;
  word: number;
  text: number;
}

/** Returns the distinct actions of a message with the limits that they meet. */
export function metOf(answer: Answer, { actions }: Message, texts: TableTexts, sourceOf: (program: number) => string): readonly MeteredAction[] {
  const cursor: Cursor = { limits: answer.limits, texts, sourceOf, word: answer.end, text: answer.text };
  const distinct = actions.length === 1 ? actions : [...new Set(actions)];
  // A table without limits has no words of them.
  if (answer.limits === 0) return distinct.map((action) => ({ action, met: [] }));
  return distinct.map((action) => ({ action, met: readAction(cursor) }));
}

function readAction(cursor: Cursor): readonly MeteredLimit[] | undefined {
  const met: MeteredLimit[] = [];
  for (;;) {
    const number = wordAt(cursor.word);
    cursor.word += 1;
    if (number === UNKNOWN) return undefined;
    if (number === 0) return met;
    const limit = factsOf(cursor, number - 1, wordAt(cursor.word));
    cursor.word += 1;
    met.push({ limit, charge: readCharge(cursor, number - 1) });
  }
}

/** Reads the values up to the 0 behind them. */
function readCharge(cursor: Cursor, number: number): MeteredCharge | { readonly error: string } {
  const record = cursor.limits + 1 + number * RECORD_WORDS;
  const parts = wordAt(cursor.limits + wordAt(record + KEY));
  const key: Uint8Array[] = [];
  let [cost, quota, at] = [1, 0, 0];
  let error: string | undefined;
  const hasCost = wordAt(record + COST) !== 0;
  for (let kind = wordAt(cursor.word); kind !== 0; kind = wordAt(cursor.word)) {
    const [program, low, high] = [wordAt(cursor.word + 1), wordAt(cursor.word + 2), wordAt(cursor.word + 3)];
    cursor.word += VALUE_WORDS;
    const text = kind === TEXT || kind === FAILED ? bytesAt(cursor.text, low) : NO_BYTES;
    cursor.text += text.length;
    const wrong = (message: string): void => {
      const source = cursor.sourceOf(program);
      error ??= source === "" ? message : `\`${source}\`: ${message}`;
    };
    if (kind === EXHAUSTED) error ??= EXHAUSTED_MESSAGE;
    else if (kind === FAILED) wrong(decoder.decode(text));
    else if (at < parts) {
      const part = partOf(kind, low, high, text);
      if (typeof part === "string") wrong(part);
      else key.push(part);
    } else {
      const isCost = hasCost && at === parts;
      const tokens = tokensOf(kind, low, high, isCost);
      if (tokens === undefined) wrong("expected a number that is finite and not negative");
      else if (isCost) cost = tokens;
      else if (tokens === 0) wrong("a quota is at least 1");
      else quota = tokens;
    }
    at += 1;
  }
  cursor.word += 1;
  if (error !== undefined) return { error };
  if (quota === 0) return { error: TOO_MANY_MESSAGE };
  return { key, cost, quota };
}

/** Returns the parts of a limit that its record and its name give. */
function factsOf({ limits, texts }: Cursor, number: number, name: number): LimitFacts {
  const record = limits + 1 + number * RECORD_WORDS;
  const long = (field: number): number => wordAt(record + field) + wordAt(record + field + 1) * 2 ** 32;
  const window = long(WINDOW);
  const burst = long(BURST);
  return {
    name: texts.of(name),
    algorithm: ALGORITHMS[wordAt(record + ALGORITHM)]!,
    window: window === 0 ? "month" : window,
    burst: burst === 0 ? undefined : burst,
    consistency: CONSISTENCIES[wordAt(record + CONSISTENCY)]!,
    failure: FAILURES[wordAt(record + FAILURE)]!,
    isShadow: wordAt(record + MODE) === 1,
  };
}

/** Returns a part of a key: a letter for its type, then its value; or what is wrong with it. */
function partOf(kind: number, low: number, high: number, text: Uint8Array): Uint8Array | string {
  if (kind === TEXT) return tagged("s", text);
  if (kind === BOOL) return tagged("b", Uint8Array.of(low));
  if (kind === INT) return numeric("i", low, high);
  if (kind === UINT) return numeric(high < 2 ** 31 ? "i" : "u", low, high);
  if (kind !== DOUBLE) return "a part of a key is text, a number or a boolean";
  const number = doubleOf(low, high);
  if (!Number.isFinite(number)) return "a number in a key must be finite";
  // Equal numbers are equal keys: the key of a whole double is that of the integer.
  if (!Number.isInteger(number) || number < -(2 ** 63) || number >= 2 ** 64) return numeric("d", low, high);
  scratch.setBigUint64(0, BigInt.asUintN(64, BigInt(number)), true);
  return numeric(number < 2 ** 63 ? "i" : "u", scratch.getUint32(0, true), scratch.getUint32(4, true));
}

function numeric(letter: string, low: number, high: number): Uint8Array {
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, high, true);
  return tagged(letter, new Uint8Array(scratch.buffer));
}

function tagged(letter: string, value: Uint8Array): Uint8Array {
  const part = new Uint8Array(1 + value.length);
  part[0] = letter.charCodeAt(0);
  part.set(value, 1);
  return part;
}

/** Returns a number of tokens, of a cost rounded up and of a quota down; `undefined` if it is none. */
function tokensOf(kind: number, low: number, high: number, isCost: boolean): number | undefined {
  if (kind === INT && high >= 2 ** 31) return undefined;
  if (kind === INT || kind === UINT) return Math.min(low + high * 2 ** 32, MAX_TOKENS);
  if (kind !== DOUBLE) return undefined;
  const number = doubleOf(low, high);
  if (!Number.isFinite(number) || number < 0) return undefined;
  return Math.min(isCost ? Math.ceil(number) : Math.floor(number), MAX_TOKENS) + 0;
}

function doubleOf(low: number, high: number): number {
  scratch.setUint32(0, low, true);
  scratch.setUint32(4, high, true);
  return scratch.getFloat64(0, true);
}

const scratch = new DataView(new ArrayBuffer(8));
const decoder = new TextDecoder();
const NO_BYTES = new Uint8Array();

/** The word behind an action whose limits are unknown. */
const UNKNOWN = 2 ** 32 - 1;
/** A value has its kind, its program and two words of its own. */
const VALUE_WORDS = 4;
const [TEXT, BOOL, INT, UINT, DOUBLE, FAILED, EXHAUSTED] = [1, 2, 3, 4, 5, 7, 8];
/** Larger numbers of tokens count as this one, which is more than any limit admits. */
const MAX_TOKENS = 1_000_000_000_001;

/** The fields of a record: see `crates/engine/src/table/limit.rs`. */
const RECORD_WORDS = 13;
const [KEY, COST, WINDOW, BURST, ALGORITHM, CONSISTENCY, FAILURE, MODE] = [0, 1, 3, 5, 7, 9, 10, 11];
const ALGORITHMS = ["gcra", "fixed", "sliding"] as const;
const CONSISTENCIES = ["exact", "leased", "local"] as const;
const FAILURES = ["local", "deny", "allow"] as const;

const EXHAUSTED_MESSAGE = "the request reached a limit of the evaluation";
const TOO_MANY_MESSAGE = "an action meets at most 16 limits";
