// Reads a member of the attributes of many resources: the hot loops of a batch.
//
// One function with a place for each name was tried: the host inlines what the first names need and calls
// the rest (share took 15 ns after view and edit had run, and takes 12).

import type { Column } from "../columns.ts";
import * as frames from "../../wasm/frame.ts";
import * as plain from "../../base/plain.ts";
import type { Fields } from "../../base/plain.ts";
import {
  $SITES,
} from "./site-names.ts";
import * as cells from "../column-words.ts";

/**
 * A loop for each place of reading. What all use is looked at before it, so that the host need not do so for
 * each row; and each calls `wordOf` at a place of its own, so that where this never happens, nothing in the
 * loop can have changed what was looked at.
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

/** The attributes of a resource; `null` where the resource is for others. */
export const attrOf = (f: Column, rows: readonly unknown[], kind: string | null, at: number): Fields | null => {
  const row = rows[at];
  if (kind === null) return row as Fields;
  if (!isObject(row) || (row.__proto__ !== OBJECT && !isPlain(row))) return null;
  const { kind: found, id, scope, policyVersion } = row;
  if (found !== kind || typeof id !== "string" || scope !== undefined || policyVersion !== undefined) return null;
  const { attr } = row;
  if (!isObject(attr) || (attr.__proto__ !== OBJECT && !isPlain(attr))) return null;
  if (f.attrs !== null) f.attrs[at - f.from] = attr;
  return attr;
};

/** The word of a value of the usual kinds; -1 for others. */
const quickWord = (v: unknown, first: string, own: number): number => {
  // Which of the two it is follows no pattern: no branch depends on it.
  const isTrue = +(v === true);
  if (isTrue | +(v === false)) return FALSE + isTrue;
  return own >= 0 && typeof v === "string" ? (v === first ? TEMPORARY : own) : -1;
};

const OBJECT = Object.prototype;

// Constants of this module: see `encode-request.ts`.
const { FALSE, TEMPORARY } = frames;
const { isObject, isPlain } = plain;
const { wordOf } = cells;
