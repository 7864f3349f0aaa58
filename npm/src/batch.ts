// Many decisions at once.
//
// Resources of one kind that follow each other are decided in columns, up to 1024 in a call. What does
// not fit (another kind, an odd resource, a plan that needs more than equalities) is decided one by one,
// and what that leaves unsure, by the general path. The order stays that of the caller.

import { readColumn, writeColumn } from "./columns.ts";
import {
  ALLOW,
  DENY,
  FALSE,
  MAX_COLUMNS,
  MISSING,
  NULL,
  NUMBER,
  ROWS,
  TEMPORARY,
  TRUE,
  UNSURE,
  type Columns,
} from "./frame.ts";
import { planFor } from "./kinds.ts";
import { describe } from "./options.ts";
import { isDisturbed, isInherited, isObject, isPlain, NOTHING, type Fields } from "./plain.ts";
import type { Detail, Plan, Plans } from "./plans.ts";
import { decideFor, listFor, type Who } from "./who.ts";
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
} from "./sites.ts";
import { begin, turn } from "./turn.ts";
import { constantWord } from "./values.ts";

/** What stands behind every way of asking. */
export interface Backing {
  readonly plans: Plans;
  /** Decides a request by reading it completely. */
  general(request: unknown): boolean;
  /** What the caller sees of an exception while a request was decided by the frame. */
  failure(thrown: unknown): unknown;
}

/** Returns the resources on which the principal may perform the action, in their order. */
export function filterRows<R>(
  backing: Backing,
  who: Who,
  action: string,
  resources: readonly R[],
  auxData: unknown,
): R[] {
  if (!Array.isArray(resources)) throw new TypeError(`resources must be an array, found ${describe(resources)}`);
  // A copy: code of the caller may change the list while it is being decided on.
  const rows = Array.prototype.slice.call(resources) as R[];
  let answers: Uint8Array;
  try {
    answers = decideRows(backing.plans, who, action, rows);
  } catch (thrown) {
    throw backing.failure(thrown);
  }
  const allowed: R[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const resource = rows[at]!;
    const answer = answers[at];
    if (answer === ALLOW) allowed.push(resource);
    else if (answer === UNSURE) {
      if (backing.general({ principal: who.principal, action, resource, auxData })) allowed.push(resource);
    }
  }
  return allowed;
}

/** Decides on every row as far as the frame can: one of `DENY`, `ALLOW` and `UNSURE` for each. */
export function decideRows(plans: Plans, who: Who, action: unknown, rows: readonly unknown[]): Uint8Array {
  const answers = new Uint8Array(rows.length).fill(UNSURE);
  if (typeof action !== "string" || who.isOdd || isDisturbed()) return answers;
  if (plans.hasPrincipals && plans.principals.has(who.id)) return answers;
  const run = new Run(plans, who, action, Math.min(rows.length, ROWS));
  let at = 0;
  while (at < rows.length) {
    const taken = run.decide(rows, at, answers);
    at += taken;
    // Where the kinds change all the time, looking for runs costs more than it saves.
    const apart = taken >= SHORTEST ? at : Math.min(at + SHORTEST, rows.length);
    for (; at < apart; at += 1) answers[at] = decideOne(plans, who, action, rows[at]);
  }
  return answers;
}

function decideOne(plans: Plans, who: Who, action: string, row: unknown): number {
  const answer = decideFor(plans, who, action, row);
  return answer === UNSURE && plans.refresh() ? decideFor(plans, who, action, row) : answer;
}

/** A slot that differs from row to row. */
interface Column {
  readonly step: number;
  readonly detail: Detail;
}

/** Resources of one kind in a row, on their way through the columns. */
class Run {
  readonly #plans: Plans;
  readonly #who: Who;
  readonly #action: string;
  readonly #attrs: Fields[];
  readonly #ids: string[];
  /** What was read for each column. */
  readonly #values: unknown[][] = [];

  constructor(plans: Plans, who: Who, action: string, size: number) {
    this.#plans = plans;
    this.#who = who;
    this.#action = action;
    this.#attrs = new Array<Fields>(size);
    this.#ids = new Array<string>(size);
  }

  /** Decides on the rows from `start` that fit together; returns how many those are. */
  decide(rows: readonly unknown[], start: number, answers: Uint8Array): number {
    const plans = this.#plans;
    const kind = kindOf(rows[start]);
    const list = kind === undefined ? null : listFor(plans, kind, undefined, undefined);
    const plan = list === null ? null : planFor(list, this.#action);
    if (kind === undefined || plan === null || !plan.columnar) return 0;
    // Code of the caller may have reloaded the bundle since the run before this one.
    if (plans.hasPrincipals && plans.principals.has(this.#who.id)) return 0;
    const columns = plans.revive() ? plans.columns() : null;
    if (columns === null || !plans.revive()) return 0;

    const mine = begin();
    const count = this.#gather(rows, start, kind, plan);
    if (count < SHORTEST) return 0;
    const mask = this.#who.mask(plans, plan);
    const varying = mask < 0 ? -1 : this.#write(plan, kind, count, columns);
    if (varying < 0 || turn.serial !== mine || !plans.isLive || !ask(plans, plan, mask, count, varying)) {
      for (let at = start; at < start + count; at += 1) {
        answers[at] = decideOne(plans, this.#who, this.#action, rows[at]);
      }
      return count;
    }
    readAnswers(columns, count, answers, start);
    return count;
  }

  /** Collects the attributes and ids of the rows that fit; returns how many those are. */
  #gather(rows: readonly unknown[], start: number, wanted: string, plan: Plan): number {
    const end = Math.min(rows.length - start, ROWS);
    const { readsResource, readsResourceId } = plan;
    const attrs = this.#attrs;
    const ids = this.#ids;
    for (let at = 0; at < end; at += 1) {
      const row = rows[start + at];
      if (!isObject(row) || (row.__proto__ !== OBJECT && !isPlain(row))) return at;
      const { kind, id, scope, policyVersion } = row;
      if (kind !== wanted || typeof id !== "string" || scope !== undefined || policyVersion !== undefined) return at;
      if (readsResourceId) ids[at] = id;
      if (!readsResource) continue;
      const { attr } = row;
      if (!isObject(attr) || (attr.__proto__ !== OBJECT && !isPlain(attr))) return at;
      attrs[at] = attr;
    }
    return end;
  }

  /** Writes the frame and the columns; returns which slots have a column, or -1 if they do not fit. */
  #write(plan: Plan, kind: string, count: number, columns: Columns): number {
    const { steps, details, frame } = this.#plans;
    const shared: string[] = [];
    const differing: Column[] = [];
    let varying = 0;
    for (let at = plan.from; at < plan.to; at += 2) {
      const step = steps[at]!;
      const detail = details[steps[at + 1]! & DETAIL]!;
      // A path of several steps is followed row by row.
      if (!(step & LAST)) return -1;
      const slot = (step >>> SLOT) & SLOT_MASK;
      if (step & FROM_RESOURCE || (step & SITE) === RESOURCE_ID) {
        varying |= 1 << slot;
        differing.push({ step, detail });
      } else if (!this.#writeShared(step, slot, detail, kind, shared)) return -1;
    }
    if (differing.length > MAX_COLUMNS || frame.words.length === 0) return -1;
    return this.#writeColumns(differing, shared, count, columns) ? varying : -1;
  }

  /** Writes a slot that is the same for all rows; returns whether that is possible. */
  #writeShared(step: number, slot: number, detail: Detail, kind: string, shared: string[]): boolean {
    const { words, numbers } = this.#plans.frame;
    const value = this.#sharedValue(step, detail.name, kind);
    // Anything but a scalar is for the general path, or for a program, and those read rows one by one.
    if (step & HELD || (value !== null && !SCALARS.has(typeof value))) return false;
    if (typeof value === "number" && !Number.isFinite(value)) return false;
    if (typeof value === "number") numbers[slot] = value;
    words[slot] = sharedWord(value, detail, shared);
    return true;
  }

  #sharedValue(step: number, name: string, kind: string): unknown {
    switch (step & SITE) {
      case PRINCIPAL_ID:
        return this.#who.id;
      case RESOURCE_KIND:
        return kind;
      default:
        return step & FROM_PRINCIPAL && name !== "" && !isInherited(name) && this.#who.attr !== NOTHING
          ? this.#who.attr[name]
          : NOTHING;
    }
  }

  #writeColumns(differing: readonly Column[], shared: readonly string[], count: number, columns: Columns): boolean {
    for (const [at, { step, detail }] of differing.entries()) {
      const values = this.#read(step, detail, count, at);
      if (values === null) return false;
      const known = { shared, columns: this.#values.slice(0, at) };
      if (!writeColumn(values, count, columns, at * ROWS, detail, known)) return false;
    }
    return true;
  }

  /** Reads the values of a slot in all rows; `null` if they have to be read one by one. */
  #read(step: number, { name }: Detail, count: number, at: number): readonly unknown[] | null {
    if ((step & SITE) === RESOURCE_ID) return (this.#values[at] = this.#ids);
    if (step & HELD || (step & SITE) > BY_NAME || isInherited(name)) return null;
    let values = this.#values[at];
    if (values === undefined || values === this.#ids) {
      values = this.#values[at] = new Array<unknown>(this.#attrs.length);
    }
    readColumn(step & SITE, name, this.#attrs, count, values);
    return values;
  }
}

/** Decides on the columns; returns whether the plan can be decided so. */
function ask({ frame, handle }: Plans, plan: Plan, mask: number, rows: number, varying: number): boolean {
  turn.isAsking = true;
  const outcome = frame.decideColumns(handle, plan.id, mask, rows, varying);
  turn.isAsking = false;
  plan.columnar = outcome !== NOT_COLUMNAR;
  return plan.columnar;
}

function readAnswers({ allowed, unsure }: Columns, count: number, answers: Uint8Array, start: number): void {
  for (let word = 0; word << 5 < count; word += 1) {
    const [yes, perhaps] = [allowed[word]!, unsure[word]!];
    const first = start + (word << 5);
    const end = Math.min(start + count - first, 32);
    for (let bit = 0; bit < end; bit += 1) {
      answers[first + bit] = (perhaps >>> bit) & 1 ? UNSURE : (yes >>> bit) & 1 ? ALLOW : DENY;
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

/** What `decideColumns` says when the plan needs its rows one by one. */
const NOT_COLUMNAR = 2;

/** Shorter runs are decided one by one. */
const SHORTEST = 16;

const OBJECT = Object.prototype;
