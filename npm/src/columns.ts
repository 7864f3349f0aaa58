// Fills a column of a batch: the values of one slot in up to 1024 resources.
//
// The values are read first and made into words afterwards. So each place of reading has a loop of its
// own, which is what makes it fast, and all share the one that looks at what was read.

import * as frames from "./frame.ts";
import { isListOrMap, type Fields } from "./plain.ts";
import type { Detail } from "./plans.ts";
import { BY_NAME } from "./sites.ts";
import {
  n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15, n16, n17, n18, n19, n20, n21,
  n22, n23, n24, n25, n26, n27, n28, n29, n30, n31,
} from "./sites.ts";
import { constantWord } from "./values.ts";

/** Reads a member of the first `count` objects. */
export function readColumn(site: number, name: string, from: readonly Fields[], count: number, into: unknown[]): void {
  switch (site) {
    case 0: for (let at = 0; at < count; at += 1) into[at] = from[at]![n0]; break;
    case 1: for (let at = 0; at < count; at += 1) into[at] = from[at]![n1]; break;
    case 2: for (let at = 0; at < count; at += 1) into[at] = from[at]![n2]; break;
    case 3: for (let at = 0; at < count; at += 1) into[at] = from[at]![n3]; break;
    case 4: for (let at = 0; at < count; at += 1) into[at] = from[at]![n4]; break;
    case 5: for (let at = 0; at < count; at += 1) into[at] = from[at]![n5]; break;
    case 6: for (let at = 0; at < count; at += 1) into[at] = from[at]![n6]; break;
    case 7: for (let at = 0; at < count; at += 1) into[at] = from[at]![n7]; break;
    case 8: for (let at = 0; at < count; at += 1) into[at] = from[at]![n8]; break;
    case 9: for (let at = 0; at < count; at += 1) into[at] = from[at]![n9]; break;
    case 10: for (let at = 0; at < count; at += 1) into[at] = from[at]![n10]; break;
    case 11: for (let at = 0; at < count; at += 1) into[at] = from[at]![n11]; break;
    case 12: for (let at = 0; at < count; at += 1) into[at] = from[at]![n12]; break;
    case 13: for (let at = 0; at < count; at += 1) into[at] = from[at]![n13]; break;
    case 14: for (let at = 0; at < count; at += 1) into[at] = from[at]![n14]; break;
    case 15: for (let at = 0; at < count; at += 1) into[at] = from[at]![n15]; break;
    case 16: for (let at = 0; at < count; at += 1) into[at] = from[at]![n16]; break;
    case 17: for (let at = 0; at < count; at += 1) into[at] = from[at]![n17]; break;
    case 18: for (let at = 0; at < count; at += 1) into[at] = from[at]![n18]; break;
    case 19: for (let at = 0; at < count; at += 1) into[at] = from[at]![n19]; break;
    case 20: for (let at = 0; at < count; at += 1) into[at] = from[at]![n20]; break;
    case 21: for (let at = 0; at < count; at += 1) into[at] = from[at]![n21]; break;
    case 22: for (let at = 0; at < count; at += 1) into[at] = from[at]![n22]; break;
    case 23: for (let at = 0; at < count; at += 1) into[at] = from[at]![n23]; break;
    case 24: for (let at = 0; at < count; at += 1) into[at] = from[at]![n24]; break;
    case 25: for (let at = 0; at < count; at += 1) into[at] = from[at]![n25]; break;
    case 26: for (let at = 0; at < count; at += 1) into[at] = from[at]![n26]; break;
    case 27: for (let at = 0; at < count; at += 1) into[at] = from[at]![n27]; break;
    case 28: for (let at = 0; at < count; at += 1) into[at] = from[at]![n28]; break;
    case 29: for (let at = 0; at < count; at += 1) into[at] = from[at]![n29]; break;
    case 30: for (let at = 0; at < count; at += 1) into[at] = from[at]![n30]; break;
    case 31: for (let at = 0; at < count; at += 1) into[at] = from[at]![n31]; break;
    case BY_NAME: for (let at = 0; at < count; at += 1) into[at] = from[at]![name]; break;
  }
}

/** The strings that have words already when a column is written. */
export interface Words {
  /** Strings that are the same for all rows. */
  readonly shared: readonly string[];
  /** The columns written before, whose strings have words of their own in each row. */
  readonly columns: readonly (readonly unknown[])[];
}

/**
 * Writes the words of a column at `start`. Returns whether the words tell everything about the values.
 *
 * Strings that no policy names only have to be told apart within a row: one that is nowhere else in its
 * row gets the word that belongs to its column.
 */
export function writeColumn(
  values: readonly unknown[],
  count: number,
  { words, numbers }: frames.Columns,
  start: number,
  { constants }: Detail,
  known: Words,
): boolean {
  const { shared, columns } = known;
  const [first] = shared;
  const isAlone = shared.length < 2 && columns.length === 0;
  const own = TEMPORARY + shared.length + columns.length;
  for (let at = 0; at < count; at += 1) {
    const v = values[at];
    let word = MISSING;
    if (v === true) word = TRUE;
    else if (v === false) word = FALSE;
    else if (typeof v === "string") {
      if (constants !== null) word = constantWord(constants, v);
      if (word === MISSING) word = v === first ? TEMPORARY : isAlone ? own : temporaryWord(v, at, known);
    } else if (typeof v === "number") {
      if (v - v !== 0) return false;
      numbers[start + at] = v;
      word = NUMBER;
    } else if (v === null) word = NULL;
    else if (v !== undefined) {
      if (!isListOrMap(v)) return false;
      word = VALUE;
    }
    words[start + at] = word;
  }
  return true;
}

function temporaryWord(text: string, row: number, { shared, columns }: Words): number {
  for (let at = 0; at < shared.length; at += 1) if (text === shared[at]) return TEMPORARY + at;
  for (let at = 0; at < columns.length; at += 1) {
    if (text === columns[at]![row]) return TEMPORARY + shared.length + at;
  }
  return TEMPORARY + shared.length + columns.length;
}

// Constants of this module: those of another are loaded from memory each time.
const { FALSE, MISSING, NULL, NUMBER, TEMPORARY, TRUE, VALUE } = frames;
