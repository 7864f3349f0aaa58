// Decides again from what a fast path has read: by the same policies, or by others as far as these bytes tell.
//
// The frame is filled from the evidence, and decided like any other. No error gives an answer: evidence that was not
// written by these policies about this target gives none. The mirror of `part.rs`, `replay.rs` and `known.rs` in
// `crates/native/src/decision_log`.

import { knowsRoles, valueIn, type RecordedIds } from "./known-values.ts";
import * as entry from "./accessors.ts";
import type { FastPath, FastPaths } from "./fast-paths.ts";
import { BROKEN_PATH, MISSING as MISSING_BYTE, TEXT, UNREADABLE, ValueReader } from "./stored-values.ts";
import type { Detail } from "./step-list.ts";
import type { Frame } from "../wasm/frame.ts";

/** The kind, version, scope and action of a decision. */
export interface RecordedTarget {
  readonly kind: string;
  readonly version: string;
  readonly scope: string;
  readonly action: string;
}

/** The evidence of one outcome. */
export interface Part {
  /** The id of the principal, if it has policies of its own. */
  readonly own: string | undefined;
  /** `undefined` if no policy is about the target. */
  readonly fastPath: FastPath | undefined;
  /** The roles that the fast path tells from others; `undefined` for each other one. */
  readonly roles: readonly (string | undefined)[];
  /** The value of each slot, or the result of its test. */
  readonly values: readonly unknown[];
}

/** Returns the parts of an evidence; `undefined` if there are not just so many. */
export function partsOf(bytes: Uint8Array, count: number): Uint8Array[] | undefined {
  return readable(() => {
    const reader = new ValueReader(bytes);
    const parts = Array.from({ length: count }, () => reader.take(reader.short()));
    reader.mustEnd();
    return parts;
  });
}

/** Reads what the fast path of a target has read; `undefined` if it is none of these policies about this target. */
export function readPart(fastPaths: FastPaths, target: RecordedTarget, bytes: Uint8Array): Part | undefined {
  return readable(() => {
    const reader = new ValueReader(bytes);
    const own = ownId(reader);
    if (own !== undefined && !fastPaths.principals.has(own)) return undefined;
    const fastPath = pathOf(fastPaths, target, own);
    const number = reader.number();
    if (fastPath === undefined || number !== fastPath.id >>> 0) return undefined;
    // The number of no fast path is also that of the one that denies what no policy is about.
    if (number === NO_FAST_PATH) {
      reader.mustEnd();
      return { own, fastPath: undefined, roles: [], values: [] };
    }
    const roles = reader.texts();
    const values = fastPath.slots.map(() => reader.value());
    reader.mustEnd();
    return { own, fastPath, roles: rolesOf(fastPath, roles, values), values };
  });
}

/** Decides again by the policies that made a decision; `undefined` if they give no answer. */
export function replayPart(fastPaths: FastPaths, { fastPath, roles, values }: Part): boolean | undefined {
  return fastPath === undefined ? false : decide(fastPaths, fastPath, roles, values, true);
}

/** Decides by other policies than those that wrote a part; `undefined` if that needs what is not known. */
export function replayPartWith(candidate: FastPaths, target: RecordedTarget, part: Part, given: RecordedIds): boolean | undefined {
  const { fastPath: recorded, own } = part;
  const ids = { principal: given.principal ?? own ?? textIn(part, "principal.id"), resource: given.resource ?? textIn(part, "resource.id") };
  // Of a principal without policies of its own, neither the scope nor, mostly, the id was read.
  if (own === undefined && (ids.principal === undefined ? candidate.hasPrincipals : candidate.principals.has(ids.principal))) return undefined;
  const isOwn = own !== undefined && candidate.principals.has(own);
  const fastPath = pathOf(candidate, target, isOwn ? own : undefined);
  if (fastPath === undefined) return undefined;
  if (fastPath.id >>> 0 === NO_FAST_PATH) return false;
  // No policy was about the target, so nothing of the request was read.
  if (recorded === undefined || !knowsRoles(recorded, fastPath, part.roles)) return undefined;
  const known = { slots: recorded.slots, values: part.values, roles: part.roles, kind: target.kind, ...ids };
  const values: unknown[] = [];
  for (const [at, slot] of fastPath.slots.entries()) {
    // The time is that of the record.
    const found = fastPath.times.includes(at) ? { value: undefined } : valueIn(known, slot);
    if (found === undefined) return undefined;
    values.push(found.value);
  }
  return decide(candidate, fastPath, part.roles, values, false);
}

function textIn({ fastPath, values }: Part, root: string): string | undefined {
  const at = fastPath?.slots.findIndex((slot) => slot.root === root && slot.path.length === 0 && slot.test === undefined) ?? -1;
  const value = values[at];
  return typeof value === "string" ? value : undefined;
}

function ownId(reader: ValueReader): string | undefined {
  const kind = reader.byte();
  if (kind === MISSING_BYTE) return undefined;
  if (kind !== TEXT) throw UNREADABLE;
  return reader.restOfText();
}

/** Returns the fast path that decides about a target; `undefined` if the general path does. */
function pathOf(fastPaths: FastPaths, target: RecordedTarget, own: string | undefined): FastPath | undefined {
  const found = selected(fastPaths, target, own);
  // What was loaded may have moved the memory, so the next attempt finds it loaded.
  return (found === null || !fastPaths.isLive) && fastPaths.refresh() ? (selected(fastPaths, target, own) ?? undefined) : (found ?? undefined);
}

function selected(fastPaths: FastPaths, { kind, version, scope, action }: RecordedTarget, own: string | undefined): FastPath | null {
  const all = fastPaths.kindsOf(version, scope);
  if (all === null) return null;
  const kinds = own === undefined ? all : all.own(own);
  const place = digest(kind) & kinds.mask;
  // The empty name also stands for an empty entry.
  const list = kind !== "" && kinds.names[place] === kind ? kinds.lists[place]! : kinds.miss(fastPaths, kind);
  return list === null ? null : planFor(list, action);
}

/** Returns the roles, with the names of those that the fast path does not tell from others, if a condition has read them all. */
function rolesOf({ slots }: FastPath, roles: readonly (string | undefined)[], values: readonly unknown[]): readonly (string | undefined)[] {
  if (!roles.includes(undefined)) return roles;
  const at = slots.findIndex(({ root, path, test }) => root === "principal.roles" && path.length === 0 && test === undefined);
  const names = values[at];
  const areNames = Array.isArray(names) && names.length === roles.length && names.every((name) => typeof name === "string");
  return areNames ? (names as string[]) : roles;
}

/** Decides on values of slots, which are `results` of tests where there are tests, or what is tested. */
function decide(
  fastPaths: FastPaths, fastPath: FastPath, given: readonly (string | undefined)[], values: readonly unknown[], areResults: boolean,
): boolean | undefined {
  const serial = begin();
  const roles = given.map((role) => role ?? unlisted(fastPath));
  const { frame } = fastPaths;
  const mask = fastPath.flags & BY_CLASS ? classesOf(fastPath.roles, roles, frame) : maskOf(fastPath.roles, roles);
  if (mask < 0) return undefined;
  if (fastPaths.isExpired()) return false;
  frame.used = ARENA_START;
  if (!fill(frame, fastPath, values, areResults)) return undefined;
  let answer = decideLong(fastPaths, fastPath, mask, serial);
  if (answer === UNSURE) answer = decideInOrder(fastPaths, fastPath, roles, serial);
  return answer === UNSURE ? undefined : answer === ALLOW;
}

/** Returns a role that a fast path does not tell from others. */
function unlisted({ roles: { names } }: FastPath): string {
  let role = "(another role)";
  while (names.includes(role)) role = `(${role})`;
  return role;
}

/** Writes the slots of a fast path. Returns false where only the general path could. */
function fill(frame: Frame, { steps, details, from, to }: FastPath, values: readonly unknown[], areResults: boolean): boolean {
  const texts: string[] = [];
  for (let at = from; at < to; at += 2) {
    const step = steps[at]!;
    if (!(step & LAST)) continue;
    const slot = (step >>> SLOT) & SLOT_MASK;
    const [value, detail] = [values[slot], details[steps[at + 1]! & DETAIL]!];
    const word = step & TESTED && areResults ? resultWord(frame, slot, value) : wordOf(frame, slot, step, detail, value, texts);
    if (word < 0) return false;
    frame.words[slot] = word;
  }
  return true;
}

/** Returns the word of the result of a test; -1 if it is none. */
function resultWord(frame: Frame, slot: number, result: unknown): number {
  switch (typeof result) {
    case "undefined":
      return MISSING;
    case "boolean":
      return result ? TRUE : FALSE;
    case "number":
      frame.numbers[slot] = result;
      return Number.isFinite(result) ? NUMBER : -1;
    default:
      return -1;
  }
}

/** Returns the word of a value, as the generated loops find it; -1 if only the general path may read it. */
function wordOf(frame: Frame, slot: number, step: number, detail: Detail, value: unknown, texts: string[]): number {
  if (value === BROKEN_PATH) {
    operands[slot] = undefined;
    return BROKEN;
  }
  if (step & HELD && !hold(frame, slot, value, step)) return -1;
  if (step & OPERAND) operands[slot] = value;
  if (step & TESTED) return detail.test === null ? -1 : testWord(frame, slot, detail.test, value);
  switch (typeof value) {
    case "undefined":
      return MISSING;
    case "boolean":
      return value ? TRUE : FALSE;
    case "string":
      return (step & APART ? apartWord(detail.constants, value, step) : MISSING) || temporary(texts, value);
    case "number":
      frame.numbers[slot] = value;
      return Number.isFinite(value) ? NUMBER : -1;
    default:
      return value === null ? NULL : isListOrMap(value) ? VALUE : -1;
  }
}

/** Returns the word of a text that is no constant: equal ones have equal words. */
function temporary(texts: string[], text: string): number {
  const known = texts.indexOf(text);
  return TEMPORARY + (known < 0 ? texts.push(text) - 1 : known);
}

/** Returns what `read` returns, or `undefined` if it meets bytes that are no evidence. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (thrown) {
    if (thrown === UNREADABLE) return undefined;
    throw thrown;
  }
}

const { apartWord, begin, classesOf, decideInOrder, decideLong, digest, frames, hold, isListOrMap, maskOf, operands, places, planFor, testWord } = entry;
const { ALLOW, ARENA_START, BROKEN, BY_CLASS, FALSE, MISSING, NULL, NUMBER, TEMPORARY, TRUE, UNSURE, VALUE } = frames;
const { APART, DETAIL, HELD, LAST, OPERAND, SLOT, SLOT_MASK, TESTED } = places;

/** The number in the place of that of a fast path, where no policy is about the target. */
const NO_FAST_PATH = 0xffff_ffff;
