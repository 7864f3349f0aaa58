// Writes values into the frame: a word for each slot, and the texts, lists and maps that programs
// read.
//
// A value is written exactly as the general path reads it, or not at all. Values that the general
// path would refuse, convert or examine closely are left to it.

import { BROKEN, LONE, MISSING, TEMPORARY, type Frame } from "../wasm/frame.ts";
import { isPlain } from "../base/plain.ts";
import type { Constants } from "./step-list.ts";
import { LAST, USES, WITH_VALUE } from "./read-sites.ts";
import { isWellFormed } from "../base/text.ts";

/** Returns the word of a string among the constants of a slot, or `MISSING`. */
export function constantWord(constants: Constants | null, text: string): number {
  if (constants === null) return MISSING;
  const { texts, words, map } = constants;
  if (map !== null) return map.get(text) ?? MISSING;
  for (let at = 0; at < texts.length; at += 1) if (text === texts[at]) return words[at]!;
  return MISSING;
}

/**
 * Returns the word of a string in a slot that has constants or is compared with no other slot;
 * `MISSING` if it needs a temporary word.
 */
export function apartWord(constants: Constants | null, text: string, step: number): number {
  const word = constantWord(constants, text);
  return word === MISSING && step & (LONE << USES) ? TEMPORARY : word;
}

/**
 * Returns the word of a string for which the hot functions have no variable, and notes it in
 * `more`.
 */
export function laterWord(more: string[], text: string): number {
  const known = more.indexOf(text);
  return FIRST_LATER + (known < 0 ? more.push(text) - 1 : known);
}

/**
 * Returns the word of a slot whose path leads through a value without members; -1 if only the
 * general path may judge it.
 */
export function brokenWord(value: unknown, next: number): number {
  if (value === undefined || Array.isArray(value)) return BROKEN;
  const isScalar =
    value === null || typeof value === "boolean" || typeof value === "string" ||
    (typeof value === "number" && Number.isFinite(value));
  if (!isScalar) return -1;
  return next & LAST ? MISSING : BROKEN;
}

/**
 * Writes the text or value of a slot into the arena. Returns true if the frame then holds
 * everything that the step needs.
 */
export function hold(frame: Frame, slot: number, value: unknown, step: number): boolean {
  frame.spans[slot] = 0;
  const isStored = typeof value === "string" || (step & WITH_VALUE && typeof value === "object" && value !== null);
  if (!isStored) return true;
  const at = frame.used;
  if (!write(frame, value, MAX_DEPTH)) return false;
  frame.spans[slot] = at;
  return true;
}

function write(frame: Frame, value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "boolean":
      return writeByte(frame, value ? TAG_TRUE : TAG_FALSE);
    case "number":
      return writeNumber(frame, value);
    case "string":
      return writeByte(frame, TAG_TEXT) && writeText(frame, value);
    case "object":
      if (value === null) return writeByte(frame, TAG_NULL);
      if (depth === 0) return false;
      return Array.isArray(value) ? writeList(frame, value, depth - 1) : writeMap(frame, value, depth - 1);
    default:
      return false;
  }
}

function writeList(frame: Frame, list: readonly unknown[], depth: number): boolean {
  const { length } = list;
  if (!writeByte(frame, TAG_LIST) || !writeCount(frame, length)) return false;
  for (let at = 0; at < length; at += 1) if (!write(frame, list[at], depth)) return false;
  return true;
}

function writeMap(frame: Frame, map: object, depth: number): boolean {
  if (!isPlain(map) || !writeByte(frame, TAG_MAP)) return false;
  const countAt = frame.used;
  if (!writeCount(frame, 0)) return false;
  let count = 0;
  for (const name of Object.keys(map)) {
    const value = (map as Readonly<Record<string, unknown>>)[name];
    if (value === undefined) continue;
    if (!writeText(frame, name) || !write(frame, value, depth)) return false;
    count += 1;
  }
  putCount(frame, countAt, count);
  return true;
}

function writeNumber(frame: Frame, number: number): boolean {
  if (!Number.isFinite(number) || !hasSpace(frame, 9)) return false;
  const { arena, used } = frame;
  arena[used] = TAG_NUMBER;
  DOUBLE[0] = number;
  for (let at = 0; at < 8; at += 1) arena[used + 1 + at] = BYTES[LITTLE ? at : 7 - at]!;
  frame.used = used + 9;
  return true;
}

/** Writes the length of a text and its bytes. */
function writeText(frame: Frame, text: string): boolean {
  // A code unit takes at most three bytes.
  if (!hasSpace(frame, 4 + text.length * 3)) return false;
  const start = frame.used + 4;
  const short = text.length <= MAX_SHORT && writeAscii(frame, text, start);
  const length = short ? text.length : writeUtf8(frame, text, start);
  if (length < 0) return false;
  putCount(frame, start - 4, length);
  frame.used = start + length;
  return true;
}

/** Writes a short text. For short texts a loop is faster than the encoder of the host. */
function writeAscii({ arena }: Frame, text: string, start: number): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 127) return false;
    arena[start + at] = unit;
  }
  return true;
}

/** Returns the number of bytes, or -1 for an unpaired surrogate, which has no encoding. */
function writeUtf8({ arena }: Frame, text: string, start: number): number {
  if (!isWellFormed(text)) return -1;
  const { read, written } = encoder.encodeInto(text, SCRATCH);
  if (read !== text.length) return -1;
  // A view of the target would be a new object for each text.
  for (let at = 0; at < written; at += 1) arena[start + at] = SCRATCH[at]!;
  return written;
}

function writeByte(frame: Frame, byte: number): boolean {
  if (!hasSpace(frame, 1)) return false;
  frame.arena[frame.used] = byte;
  frame.used += 1;
  return true;
}

function writeCount(frame: Frame, count: number): boolean {
  if (!hasSpace(frame, 4)) return false;
  putCount(frame, frame.used, count);
  frame.used += 4;
  return true;
}

function putCount({ arena }: Frame, at: number, count: number): void {
  arena[at] = count;
  arena[at + 1] = count >>> 8;
  arena[at + 2] = count >>> 16;
  arena[at + 3] = count >>> 24;
}

/** Returns true if the arena has space. A detached arena has none. */
function hasSpace({ arena, used }: Frame, bytes: number): boolean {
  return used + bytes <= arena.length;
}

/** The hot functions have a variable for each of the first four temporary words. */
const FIRST_LATER = TEMPORARY + 4;

const encoder = new TextEncoder();
const SCRATCH = new Uint8Array(65_536);
const DOUBLE = new Float64Array(1);
const BYTES = new Uint8Array(DOUBLE.buffer);
const LITTLE = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

const TAG_NULL = 0;
const TAG_FALSE = 1;
const TAG_TRUE = 2;
const TAG_NUMBER = 3;
const TAG_TEXT = 4;
const TAG_LIST = 5;
const TAG_MAP = 6;

/** Less than the limit of the general path, which judges deeper values. */
const MAX_DEPTH = 32;

/** The loop is faster up to this length (1.7 ns a character against 32 ns, measured in Node 20). */
const MAX_SHORT = 24;
