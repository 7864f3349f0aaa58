// Fills a column of a batch: the words of one slot in up to 1024 resources.
//
// A row is looked at once, and what is read becomes a word at once: to keep what was read for a second
// loop took longer than to read it. Each place of reading has a loop of its own; what they call is written
// into those that run by the host.

import * as frames from "./frame.ts";
import * as plain from "./plain.ts";
import type { Fields } from "./plain.ts";
import type { Constants } from "./plans.ts";
import {
  n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20, n21,
  n22, n23, n24, n25, n26, n27, n28, n29, n30, n31,
} from "./sites.ts";
import * as values from "./values.ts";

/** A column that is being written, and the rows that it is read from. */
export interface Column {
  /** Resources of this kind, or if it is `null`, their attributes themselves. */
  readonly rows: readonly unknown[];
  readonly kind: string | null;
  readonly from: number;
  readonly end: number;
  /** Where the attributes are wanted later, a place for them. */
  readonly attrs: unknown[] | null;
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  /** What leads from a row to its cell. */
  readonly shift: number;
  readonly constants: Constants | null;
  /** Strings that are the same in all rows. */
  readonly shared: readonly string[];
  /** The strings of columns that were written before, in each row, and where to put those of this one. */
  readonly before: readonly (readonly unknown[])[];
  readonly strings: unknown[] | null;
  /** The word of every string but `first`, whose word is the first one; -1 where there is more to look at. */
  readonly own: number;
  readonly first: string;
  /** Whether strings are expected; and whether there was one. */
  readonly isTextual: boolean;
  hasText: boolean;
  /** Whether a word does not tell everything about its value. */
  isOdd: boolean;
}

/** What is read of resources where it is wanted later. */
export interface Kept {
  readonly attrs: unknown[] | null;
  readonly ids: string[];
}

/** Reads resources up to the first that does not fit, and returns its place. */
export function readRows(rows: readonly unknown[], start: number, end: number, wanted: string, { attrs, ids }: Kept): number {
  for (let at = start; at < end; at += 1) {
    const row = rows[at];
    if (!isObject(row) || !isPlain(row)) return at;
    const { kind, id, scope, policyVersion } = row;
    if (kind !== wanted || typeof id !== "string" || scope !== undefined || policyVersion !== undefined) return at;
    ids[at - start] = id;
    if (attrs === null) continue;
    const { attr } = row;
    if (!isObject(attr) || !isPlain(attr)) return at;
    attrs[at - start] = attr;
  }
  return end;
}

/**
 * Writes a member of the attributes of the rows, up to the first row that does not fit, and returns its place.
 */
export function writeMembers(site: number, name: string, column: Column): number {
  const loop = LOOPS[site];
  return loop === undefined ? byName(column, column.from, name) : loop(column, column.from);
}

/** Writes strings that were read before. */
export function writeStrings(strings: readonly string[], column: Column): void {
  for (let at = 0; at < column.end; at += 1) column.words[at + column.shift] = wordOf(column, at, strings[at]);
}

/**
 * A loop for each place of reading. Each calls `wordOf` at a place of its own: where that never happens, the
 * host knows that nothing in the loop changes what it has looked at.
 */
const LOOPS: readonly ((f: Column, at: number) => number)[] = [
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

function byName(f: Column, at: number, name: string): number {
  const { rows, kind, end, words, shift } = f;
  for (; at < end; at += 1) {
    const o = attrOf(f, rows, kind, at);
    if (o === null || name in OBJECT) break;
    words[at + shift] = wordOf(f, at, o[name]);
  }
  return at;
}

/** The attributes of a resource; `null` where the resource is for others. */
const attrOf = (f: Column, rows: readonly unknown[], kind: string | null, at: number): Fields | null => {
  const row = rows[at];
  if (kind === null) return row as Fields;
  if (!isObject(row) || (row.__proto__ !== OBJECT && !isPlain(row))) return null;
  const { kind: found, id, scope, policyVersion } = row;
  if (found !== kind || typeof id !== "string" || scope !== undefined || policyVersion !== undefined) return null;
  const { attr } = row;
  if (!isObject(attr) || (attr.__proto__ !== OBJECT && !isPlain(attr))) return null;
  if (f.attrs !== null) f.attrs[at - f.from] = attr;
  return attr;
}

/** The word of a value of the usual kinds; -1 for others. */
const quickWord = (v: unknown, first: string, own: number): number => {
  // Which of the two it is follows no pattern: no branch depends on it.
  const isTrue = +(v === true);
  if (isTrue | +(v === false)) return FALSE + isTrue;
  return own >= 0 && typeof v === "string" ? (v === first ? TEMPORARY : own) : -1;
}

/**
 * The word of any value.
 *
 * Strings that no policy names only have to be told apart within a row: one that is nowhere else in its
 * row gets the word that belongs to its column.
 */
const wordOf = (column: Column, at: number, v: unknown): number => {
  if (v === true) return TRUE;
  if (v === false) return FALSE;
  if (v === undefined) return MISSING;
  if (v === null) return NULL;
  if (typeof v === "string") return textWord(column, at, v);
  if (typeof v === "number") {
    column.numbers[at + column.shift] = v;
    column.isOdd ||= v - v !== 0;
    return NUMBER;
  }
  column.isOdd ||= !isListOrMap(v);
  return VALUE;
}

function textWord(column: Column, at: number, text: string): number {
  column.hasText = true;
  // The strings of the columns before were not kept for this one. Next time they will be.
  if (!column.isTextual) column.isOdd = true;
  const word = constantWord(column.constants, text);
  if (word !== MISSING) return word;
  const row = at - column.from;
  if (column.strings !== null) column.strings[row] = text;
  return temporaryWord(text, row, column);
}

function temporaryWord(text: string, row: number, { shared, before }: Column): number {
  for (let at = 0; at < shared.length; at += 1) if (text === shared[at]) return TEMPORARY + at;
  for (let at = 0; at < before.length; at += 1) {
    if (text === before[at]![row]) return TEMPORARY + shared.length + at;
  }
  return TEMPORARY + shared.length + before.length;
}

const OBJECT = Object.prototype;

// Constants of this module: those of another are loaded from memory each time.
const { FALSE, MISSING, NULL, NUMBER, TEMPORARY, TRUE, VALUE } = frames;
const { isListOrMap, isObject, isPlain } = plain;
const { constantWord } = values;
