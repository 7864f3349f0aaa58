// Reads a member of the attributes of many resources: the hot loops of a batch.
//
// One function with a site for each name was tried: the engine inlines the code for the first names
// and calls the rest (share took 15 ns after view and edit had run, and takes 12 with these loops).

import type { Column } from "../columns.ts";
import * as frames from "../../wasm/frame.ts";
import * as plain from "../../base/plain.ts";
import type { Fields } from "../../base/plain.ts";
import {
  $SITES,
} from "./site-names.ts";
import * as cells from "../column-words.ts";

/**
 * A loop for each read site. The checks that all rows share come before the loop, so that the
 * engine need not repeat them for each row. Each loop calls `wordOf` at a site of its own: if that
 * call never happens, no code in the loop can have changed the results of these checks.
 */
export const LOOPS: readonly ((f: Column, at: number) => number)[] = [
//= for each site
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n$N;
    if (name in OBJECT || rows.length < end || words.length === 0) return at;
    for (; at < end; at += 1) {
      const o = attrOf(f, rows, kind, at);
      if (o === null || name in OBJECT) break;
      const v = o[name];
      const word = quickWord(v, first, own);
      words[at + shift] = word < 0 ? wordOf(f, at, v) : word;
    }
    return at;
  },
//= end
];

/** Returns the attributes of a resource; `null` if the fast path does not cover it. */
export const attrOf = (f: Column, rows: readonly unknown[], kind: string | null, at: number): Fields | null => {
  const row = rows[at];
  if (kind === null) return row as Fields;
  if (!isObject(row) || (row.__proto__ !== OBJECT && !isPlain(row))) return null;
  const { kind: found, id, scope, policyVersion } = row;
  if (found !== kind || typeof id !== "string" || scope !== undefined || policyVersion !== undefined) return null;
  const { attr } = row;
  const known = isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr)) ? attr : attrOrNothing(row, attr);
  if (f.attrs !== null) f.attrs[at - f.from] = known;
  return known;
};

/** Returns the word of a value of the usual kinds; -1 for other values. */
const quickWord = (v: unknown, first: string, own: number): number => {
  // The order of `true` and `false` is unpredictable, so no branch depends on it.
  const isTrue = +(v === true);
  if (isTrue | +(v === false)) return FALSE + isTrue;
  return own >= 0 && typeof v === "string" ? (v === first ? TEMPORARY : own) : -1;
};

const OBJECT = Object.prototype;

// Constants of this module: see `encode-request.ts`.
const { FALSE, TEMPORARY } = frames;
const { attrOrNothing, isObject, isPlain } = plain;
const { wordOf } = cells;
