// The words that stand for values in a column.

import type { Column } from "./columns.ts";
import { FALSE, MISSING, NULL, NUMBER, TEMPORARY, TRUE, VALUE } from "../wasm/frame.ts";
import { isListOrMap } from "../base/plain.ts";
import { constantWord } from "./values.ts";

/**
 * Returns the word of a value.
 *
 * Strings outside of the policies are only compared within a row: a string that occurs once in its
 * row gets the word of its column.
 */
export const wordOf = (column: Column, at: number, v: unknown): number => {
  if (v === true) return TRUE;
  if (v === false) return FALSE;
  if (v === undefined) return MISSING;
  if (v === null) return NULL;
  if (typeof v === "string") return textWord(column, at, v);
  if (typeof v === "number") {
    column.numbers[at + column.shift] = v;
    column.isInexact ||= v - v !== 0;
    return NUMBER;
  }
  column.isInexact ||= !isListOrMap(v);
  return VALUE;
};

function textWord(column: Column, at: number, text: string): number {
  column.hasText = true;
  // The earlier columns did not store their strings for this one. The next batch does.
  if (!column.isTextual) column.isInexact = true;
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
