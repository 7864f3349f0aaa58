// Decides many requests at once.
//
// Consecutive resources of one kind are decided in columns, up to 1024 in a call. All others are
// decided one by one: another kind, an unusual resource, a fast path that needs more than
// equalities. The general path decides rows that are still unsure. The order of the caller stays.

import { describe } from "../base/describe.ts";
import { ColumnWriter, type Slot } from "./column-writer.ts";
import {
  ALLOW,
  DENY,
  FALSE,
  MAX_COLUMNS,
  MISSING,
  NULL,
  NUMBER,
  TEMPORARY,
  TRUE,
  UNSURE,
  type Columns,
} from "../wasm/frame.ts";
import { planFor, type FastPathList } from "./kinds.ts";
import { isDisturbed, isInherited, isObject, NOTHING } from "../base/plain.ts";
import type { FastPath, FastPaths } from "./fast-paths.ts";
import type { Detail } from "./step-list.ts";
import {
  BY_NAME,
  DETAIL,
  FROM_PRINCIPAL,
  FROM_RESOURCE,
  HELD,
  LAST,
  PRINCIPAL_ID,
  RESOURCE_ID,
  RESOURCE_KIND,
  SITE,
  SLOT,
  SLOT_MASK,
} from "./read-sites.ts";
import { begin, callState } from "../wasm/reentrancy.ts";
import { constantWord } from "./values.ts";
import { decideForPrincipal, decideTarget, listFor, type PreparedTarget, type PrincipalRecord } from "./prepared-requests.ts";

/** The means to decide: the fast paths, and the general path behind them. */
export interface Engine {
  readonly fastPaths: FastPaths;
  /** Decides a request on the general path. */
  general(request: unknown): boolean;
  /** Converts an exception of the fast path to the error for the caller. */
  failure(thrown: unknown): unknown;
}

/** The common parts of the requests of a filter. */
export interface Filter {
  readonly record: PrincipalRecord;
  readonly action: string;
  /** The scope and version of resources without one. */
  readonly target?: PreparedTarget;
  readonly auxData: unknown;
}

/**
 * Returns the resources on which the principal may perform the action, in their order; or what stands
 * in their place in `instead`, which this function changes.
 */
export function filterRows<R, T = R>(engine: Engine, filter: Filter, resources: readonly R[], instead?: T[]): T[] {
  const { record, action, target, auxData } = filter;
  if (!Array.isArray(resources)) throw new TypeError(`resources must be an array, found ${describe(resources)}`);
  // A copy: code of the caller may change the list in the meantime. The allowed rows move to its
  // front.
  const rows = ([] as R[]).concat(resources);
  let answers: RowAnswers;
  try {
    answers = decideRows(engine.fastPaths, filter, rows);
  } catch (thrown) {
    throw engine.failure(thrown);
  }
  const { principal } = record;
  const general = (at: number): boolean =>
    engine.general({ principal, action, resource: target === undefined ? rows[at] : target.completed(rows[at]), auxData });
  const results = instead ?? (rows as unknown[] as T[]);
  const { length } = rows;
  let count = 0;
  for (let first = 0; first < length; first += 32) {
    let yes = answers.allowed[first >>> 5]!;
    const unsure = answers.unsure[first >>> 5]!;
    if (unsure !== 0) yes |= generalAnswers(first, unsure, general);
    count = moveToFront(results, first, yes, count);
  }
  results.length = count;
  return results;
}

/**
 * Moves rows to the positions from `count`: the ones among the 32 from `first` that `yes` has a bit
 * for.
 */
function moveToFront(rows: unknown[], first: number, yes: number, count: number): number {
  while (yes !== 0) {
    rows[count] = rows[first + 31 - Math.clz32(yes & -yes)];
    count += 1;
    yes &= yes - 1;
  }
  return count;
}

function generalAnswers(first: number, unsure: number, general: (at: number) => boolean): number {
  let yes = 0;
  for (let bit = 0; bit < 32; bit += 1) if ((unsure >>> bit) & 1 && general(first + bit)) yes |= 1 << bit;
  return yes;
}

/** The decisions on rows: a bit for each. An unsure row is not allowed. */
export interface RowAnswers {
  readonly allowed: number[];
  readonly unsure: number[];
}

/** Decides every row on the fast path, as far as possible. */
export function decideRows(fastPaths: FastPaths, filter: Filter, rows: readonly unknown[]): RowAnswers {
  const { record, action } = filter;
  const answers = nothingDecided(rows.length);
  if (typeof action !== "string" || record.needsGeneralPath || isDisturbed()) return answers;
  const run = new Run(fastPaths, filter);
  let at = 0;
  while (at < rows.length) {
    const taken = run.decide(rows, at, answers);
    at += taken;
    // If the kinds change all the time, looking for runs costs more than it saves.
    const apart = taken >= SHORTEST ? at : Math.min(at + SHORTEST, rows.length);
    for (; at < apart; at += 1) setAnswer(answers, at, decideOne(fastPaths, filter, rows[at]));
  }
  return answers;
}

function nothingDecided(rows: number): RowAnswers {
  const words = (rows + 31) >>> 5;
  const unsure = new Array<number>(words).fill(-1);
  if (rows & 31) unsure[words - 1] = (1 << (rows & 31)) - 1;
  return { allowed: new Array<number>(words).fill(0), unsure };
}

function setAnswer({ allowed, unsure }: RowAnswers, at: number, answer: number): void {
  if (answer === UNSURE) return;
  const bit = 1 << (at & 31);
  unsure[at >>> 5]! &= ~bit;
  if (answer === ALLOW) allowed[at >>> 5]! |= bit;
}

function decideOne(fastPaths: FastPaths, { record, action, target, auxData }: Filter, row: unknown): number {
  const decide = (): number =>
    target === undefined
      ? decideForPrincipal(fastPaths, record, action, row, auxData)
      : decideTarget(fastPaths, record, target, row, auxData);
  const answer = decide();
  return answer === UNSURE && fastPaths.refresh() ? decide() : answer;
}

/** A run of resources of one kind, decided in columns. */
class Run {
  readonly #fastPaths: FastPaths;
  readonly #filter: Filter;
  readonly #record: PrincipalRecord;

  constructor(fastPaths: FastPaths, filter: Filter) {
    this.#fastPaths = fastPaths;
    this.#filter = filter;
    this.#record = filter.record;
  }

  /** Decides the rows from `start` that fit together, and returns their number. */
  decide(rows: readonly unknown[], start: number, answers: RowAnswers): number {
    const fastPaths = this.#fastPaths;
    const kind = kindOf(rows[start]);
    const list = kind === undefined ? null : this.#list(kind);
    const fastPath = list === null ? null : planFor(list, this.#filter.action);
    if (kind === undefined || fastPath === null || !fastPath.columnar) return 0;
    const columns = fastPaths.revive() ? fastPaths.columns() : null;
    if (columns === null || !fastPaths.revive()) return 0;

    const serial = begin();
    const mask = this.#record.mask(fastPaths, fastPath);
    const shared: string[] = [];
    const slots = mask < 0 ? null : this.#slots(fastPath, kind, shared);
    if (slots === null) return 0;
    const writer = new ColumnWriter(fastPath, slots, shared, columns);
    const count = writer.fill(rows, start, kind);
    if (count < SHORTEST) return 0;
    const varying = slots.reduce((bits, { slot }) => bits | (1 << slot), 0);
    const isExpired = fastPaths.isExpired();
    const isValid = !isExpired && !writer.isInexact && callState.serial === serial && fastPaths.isLive;
    if (!isValid || !decideColumns(fastPaths, fastPath, mask, count, varying)) {
      for (let at = start; at < start + count; at += 1) {
        setAnswer(answers, at, decideOne(fastPaths, this.#filter, rows[at]));
      }
      return count;
    }
    readColumns(columns, count, answers, start);
    return count;
  }

  #list(kind: string): FastPathList | null {
    const { target } = this.#filter;
    const fastPaths = this.#fastPaths;
    const own = this.#record.own(fastPaths);
    return target === undefined ? listFor(fastPaths, kind, undefined, undefined, own) : target.listFor(fastPaths, kind, { own });
  }

  /**
   * Writes the slots that are equal for all rows, and returns the other slots; `null` if they do
   * not fit into columns.
   */
  #slots(fastPath: FastPath, kind: string, shared: string[]): readonly Slot[] | null {
    const { frame } = this.#fastPaths;
    const { steps, details, from, to } = fastPath;
    const slots: Slot[] = [];
    for (let at = from; at < to; at += 2) {
      const step = steps[at]!;
      const detail = details[steps[at + 1]! & DETAIL]!;
      const slot = (step >>> SLOT) & SLOT_MASK;
      const site = step & SITE;
      // A path of several steps is read row by row.
      if (!(step & LAST) || step & HELD) return null;
      if (step & FROM_RESOURCE ? site <= BY_NAME : site === RESOURCE_ID) slots.push({ slot, site, detail });
      else if (step & FROM_RESOURCE || !this.#writeShared(step, slot, detail, kind, shared)) return null;
    }
    return slots.length > MAX_COLUMNS || frame.words.length === 0 ? null : slots;
  }

  /** Writes a slot that is equal for all rows, and returns true if that is possible. */
  #writeShared(step: number, slot: number, detail: Detail, kind: string, shared: string[]): boolean {
    const { words, numbers } = this.#fastPaths.frame;
    const value = this.#sharedValue(step, detail.name, kind);
    // The general path or a program decides values that are not scalars, and both read rows one by
    // one.
    if (step & HELD || (value !== null && !SCALARS.has(typeof value))) return false;
    if (typeof value === "number" && !Number.isFinite(value)) return false;
    if (typeof value === "number") numbers[slot] = value;
    words[slot] = sharedWord(value, detail, shared);
    return true;
  }

  #sharedValue(step: number, name: string, kind: string): unknown {
    switch (step & SITE) {
      case PRINCIPAL_ID:
        return this.#record.id;
      case RESOURCE_KIND:
        return kind;
      default:
        return step & FROM_PRINCIPAL && name !== "" && !isInherited(name)
          ? this.#record.attr[name]
          : NOTHING;
    }
  }
}

/** Decides the columns, and returns true if the fast path supports columns. */
function decideColumns({ frame, handle }: FastPaths, fastPath: FastPath, mask: number, rows: number, varying: number): boolean {
  callState.isDeciding = true;
  const outcome = frame.decideColumns(handle, fastPath.id, mask, rows, varying);
  callState.isDeciding = false;
  fastPath.columnar = outcome !== NOT_COLUMNAR;
  return fastPath.columnar;
}

function readColumns({ allowed, unsure }: Columns, count: number, answers: RowAnswers, start: number): void {
  for (let word = 0; word << 5 < count; word += 1) {
    const [yes, perhaps] = [allowed[word]!, unsure[word]!];
    if ((start & 31) === 0 && (word + 1) << 5 <= count) {
      answers.allowed[(start >>> 5) + word] = yes & ~perhaps;
      answers.unsure[(start >>> 5) + word] = perhaps | 0;
      continue;
    }
    const end = Math.min(count - (word << 5), 32);
    for (let bit = 0; bit < end; bit += 1) {
      const answer = (perhaps >>> bit) & 1 ? UNSURE : (yes >>> bit) & 1 ? ALLOW : DENY;
      setAnswer(answers, start + (word << 5) + bit, answer);
    }
  }
}

function sharedWord(value: unknown, { constants }: Detail, shared: string[]): number {
  switch (value) {
    case undefined:
      return MISSING;
    case null:
      return NULL;
    case true:
      return TRUE;
    case false:
      return FALSE;
  }
  if (typeof value !== "string") return NUMBER;
  const word = constantWord(constants, value);
  if (word !== MISSING) return word;
  if (!shared.includes(value)) shared.push(value);
  return TEMPORARY + shared.indexOf(value);
}

function kindOf(row: unknown): string | undefined {
  const kind = isObject(row) ? row["kind"] : undefined;
  return typeof kind === "string" ? kind : undefined;
}

const SCALARS: ReadonlySet<string> = new Set(["undefined", "boolean", "number", "string"]);

/** The status of `decideColumns` for a fast path that needs its rows one by one. */
const NOT_COLUMNAR = 2;

/** Shorter runs are decided one by one. */
const SHORTEST = 16;
