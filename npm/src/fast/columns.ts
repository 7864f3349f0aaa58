// The columns of a batch: the words of one slot in up to 1024 resources.
//
// Each row is read once and converted at once: storing the values for a second loop took twice as
// long.

import { attrOf, LOOPS } from "./generated/column-loops.ts";
import { attrOrNothing, isObject, isPlain } from "../base/plain.ts";
import type { Constants } from "./step-list.ts";
import { wordOf } from "./column-words.ts";

/** A column that is being written, and the rows that it is read from. */
export interface Column {
  /** Resources of this kind; if the kind is `null`, the attributes of resources. */
  readonly rows: readonly unknown[];
  readonly kind: string | null;
  readonly from: number;
  readonly end: number;
  /** The buffer for the attributes, if a later column needs them. */
  readonly attrs: unknown[] | null;
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  /** The offset from a row to its cell. */
  readonly shift: number;
  readonly constants: Constants | null;
  /** The strings that are equal in all rows. */
  readonly shared: readonly string[];
  /** The strings of earlier columns, by row, and the buffer for the strings of this one. */
  readonly before: readonly (readonly unknown[])[];
  readonly strings: unknown[] | null;
  /**
   * The word of every string other than `first`, whose word is the first temporary one; -1 if
   * strings need further comparisons.
   */
  readonly own: number;
  readonly first: string;
  /** True if strings are expected; true if one occurred. */
  readonly isTextual: boolean;
  hasText: boolean;
  /** True if a word does not determine its value. */
  isInexact: boolean;
}

/** The buffers for the attributes and ids of rows. */
export interface RowBuffers {
  readonly attrs: unknown[] | null;
  readonly ids: string[];
}

/** Reads resources up to the first that does not fit, and returns its index. */
export function readRows(
  rows: readonly unknown[],
  start: number,
  end: number,
  wanted: string,
  { attrs, ids }: RowBuffers,
): number {
  for (let at = start; at < end; at += 1) {
    const row = rows[at];
    if (!isObject(row) || !isPlain(row)) return at;
    const { kind, id, scope, policyVersion } = row;
    if (kind !== wanted || typeof id !== "string" || scope !== undefined || policyVersion !== undefined) return at;
    ids[at - start] = id;
    if (attrs === null) continue;
    const { attr } = row;
    const known = isObject(attr) && isPlain(attr) ? attr : attrOrNothing(row, attr);
    if (known === null) return at;
    attrs[at - start] = known;
  }
  return end;
}

/**
 * Writes a member of the attributes of the rows, up to the first row that does not fit, and returns
 * its index.
 */
export function writeMembers(site: number, name: string, column: Column): number {
  const loop = LOOPS[site];
  return loop === undefined ? byName(column, column.from, name) : loop(column, column.from);
}

/** Writes strings that were read before. */
export function writeStrings(strings: readonly string[], column: Column): void {
  for (let at = 0; at < column.end; at += 1) column.words[at + column.shift] = wordOf(column, at, strings[at]);
}

function byName(f: Column, at: number, name: string): number {
  const { rows, kind, end, words, shift } = f;
  for (; at < end; at += 1) {
    const o = attrOf(f, rows, kind, at);
    if (o === null || name in OBJECT) break;
    words[at + shift] = wordOf(f, at, o[name]);
  }
  return at;
}

const OBJECT = Object.prototype;
