// Fills the columns of a batch that differ from row to row.

import { readRows, writeMembers, writeStrings, type Column } from "./columns.ts";
import { ROWS, TEMPORARY, type Columns } from "../wasm/frame.ts";
import type { FastPath } from "./fast-paths.ts";
import type { Detail } from "./step-list.ts";
import { RESOURCE_ID } from "./read-sites.ts";

/** A slot that differs from row to row. */
export interface Slot {
  readonly slot: number;
  /** The site that reads it, or `RESOURCE_ID`. */
  readonly site: number;
  readonly detail: Detail;
}

/** The rows that a column is read from. */
type Source = Pick<Column, "rows" | "kind" | "from" | "end" | "attrs">;

/** The columns of one run while they are written. */
export class ColumnWriter {
  /** True if the rows must be decided one by one. */
  isInexact = false;
  readonly #fastPath: FastPath;
  readonly #slots: readonly Slot[];
  readonly #shared: readonly string[];
  readonly #columns: Columns;
  readonly #before: unknown[][] = [];

  constructor(fastPath: FastPath, slots: readonly Slot[], shared: readonly string[], columns: Columns) {
    this.#fastPath = fastPath;
    this.#slots = slots;
    this.#shared = shared;
    this.#columns = columns;
  }

  /** Reads the rows from `start` that fit together, and returns their number. */
  fill(rows: readonly unknown[], start: number, kind: string): number {
    const end = Math.min(rows.length, start + ROWS);
    const members = this.#slots.filter(({ site }) => site !== RESOURCE_ID);
    const ids = this.#slots.filter(({ site }) => site === RESOURCE_ID);
    // The first column is written while the rows are checked, unless their ids are needed too.
    const first = ids.length === 0 ? members.shift() : undefined;
    const attrs = members.length === 0 ? null : new Array<unknown>(end - start);
    const texts: string[] = [];
    const stop = first === undefined
      ? readRows(rows, start, end, kind, { attrs, ids: texts })
      : this.#write(first, { rows, kind, from: start, end, attrs });
    const count = stop - start;
    const rest = { rows: attrs ?? [], kind: null, from: 0, end: count, attrs: null };
    for (const slot of members) {
      // Code of the caller may have changed `Object.prototype`.
      if (this.#write(slot, rest) < count) this.isInexact = true;
    }
    for (const slot of ids) writeStrings(texts, this.#column(slot, rest));
    return count;
  }

  #write(slot: Slot, source: Source): number {
    const column = this.#column(slot, source);
    const end = writeMembers(slot.site, slot.detail.name, column);
    if (column.hasText) this.#fastPath.textual |= 1 << slot.slot;
    this.isInexact ||= column.isInexact;
    return end;
  }

  #column(slot: Slot, source: Source): Column {
    const shared = this.#shared;
    const before = this.#before.slice();
    const isTextual = this.#isTextual(slot);
    const strings = isTextual && this.#slots.some((other) => other !== slot && this.#isTextual(other)) ? [] : null;
    if (strings !== null) this.#before.push(strings);
    const { constants } = slot.detail;
    const isAlone = isTextual && shared.length < 2 && before.length === 0 && strings === null && constants === null;
    const { rows, kind, from, end, attrs } = source;
    const { words, numbers } = this.#columns;
    return {
      rows,
      kind,
      from,
      end,
      attrs,
      words,
      numbers,
      shift: this.#slots.indexOf(slot) * ROWS - from,
      constants,
      shared,
      first: shared[0] ?? "",
      before,
      strings,
      own: isAlone ? TEMPORARY + shared.length : -1,
      isTextual,
      hasText: false,
      isInexact: false,
    };
  }

  #isTextual({ site, slot }: Slot): boolean {
    return site === RESOURCE_ID || ((this.#fastPath.textual >>> slot) & 1) === 1;
  }
}
