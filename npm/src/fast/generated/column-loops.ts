// Generated from `npm/templates/column-loops.ts` by `cargo xtask generate`. Do not edit.
// Reads a member of the attributes of many resources: the hot loops of a batch.
//
// One function with a site for each name was tried: the engine inlines the code for the first names
// and calls the rest (share took 15 ns after view and edit had run, and takes 12 with these loops).

import type { Column } from "../columns.ts";
import * as frames from "../../wasm/frame.ts";
import * as plain from "../../base/plain.ts";
import type { Fields } from "../../base/plain.ts";
import {
  n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15,
  n16, n17, n18, n19, n20, n21, n22, n23, n24, n25, n26, n27, n28, n29, n30, n31,
} from "./site-names.ts";
import * as cells from "../column-words.ts";

/**
 * A loop for each read site. The checks that all rows share come before the loop, so that the
 * engine need not repeat them for each row. Each loop calls `wordOf` at a site of its own: if that
 * call never happens, no code in the loop can have changed the results of these checks.
 */
export const LOOPS: readonly ((f: Column, at: number) => number)[] = [
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n0;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n1;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n2;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n3;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n4;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n5;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n6;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n7;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n8;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n9;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n10;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n11;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n12;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n13;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n14;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n15;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n16;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n17;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n18;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n19;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n20;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n21;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n22;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n23;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n24;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n25;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n26;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n27;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n28;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n29;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n30;
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
  (f, at) => {
    const { rows, kind, end, words, shift, first, own } = f;
    const name = n31;
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
