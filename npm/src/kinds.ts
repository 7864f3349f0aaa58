// The plan lists of the kinds, found by the names that requests give.

import type { Plan, Plans } from "./plans.ts";
import { interned } from "./text.ts";

/** The plans for one kind, version and scope. */
export interface PlanList {
  readonly actions: readonly string[];
  readonly plans: readonly (Plan | null)[];
  readonly map: ReadonlyMap<string, Plan | null> | null;
  readonly other: Plan | null;
}

/** The plan lists of one version and scope, by kind. */
export class Kinds {
  /** The lists by their names, found by a digest of the name; see `digest`. */
  names: string[] = Array.from({ length: FIRST_SIZE }, () => "");
  lists: (PlanList | null)[] = Array.from({ length: FIRST_SIZE }, () => null);
  mask = FIRST_SIZE - 1;
  readonly #all = new Map<string, PlanList>();
  readonly #without = new Set<string>();
  readonly version: string;
  readonly scope: string;

  constructor(version: string, scope: string) {
    this.version = version;
    this.scope = scope;
  }

  /** Finds a list that does not stand where its digest says, or is not here yet. */
  miss(plans: Plans, kind: string): PlanList | null {
    const known = this.#all.get(kind);
    if (known !== undefined) return this.#place(kind, known);
    if (this.#without.has(kind)) return null;
    const list = plans.load(this, kind);
    if (list !== null) {
      const name = interned(kind);
      this.#all.set(name, list);
      return this.#place(name, list);
    }
    if (plans.isLive && kind.length <= MAX_WITHOUT_LENGTH) {
      // Forgotten as a whole when it is full: what is asked for often soon stands in it again.
      if (this.#without.size === MAX_WITHOUT) this.#without.clear();
      this.#without.add(kind);
    }
    return null;
  }

  #place(kind: string, list: PlanList): PlanList {
    if (this.#all.size * 4 > this.names.length && this.names.length < MAX_SIZE) this.#grow();
    const at = digest(kind) & this.mask;
    this.names[at] = kind;
    this.lists[at] = list;
    return list;
  }

  #grow(): void {
    const size = this.names.length * 4;
    this.names = Array.from({ length: size }, () => "");
    this.lists = Array.from({ length: size }, () => null);
    this.mask = size - 1;
    for (const [kind, list] of this.#all) {
      const at = digest(kind) & this.mask;
      this.names[at] = kind;
      this.lists[at] = list;
    }
  }
}

/**
 * A number for a name that is cheap to make: kinds that share a beginning and a length mostly differ in
 * their last characters. The hot functions have it in line; a `Map` costs twice as much, because it
 * wants a digest of the whole name.
 */
export function digest(name: string): number {
  const n = name.length;
  if (n === 0) return 0;
  return n * 7 + name.charCodeAt(n - 1) + name.charCodeAt(n > 1 ? n - 2 : 0) * 37 +
    name.charCodeAt(n > 2 ? n - 3 : 0) * 1009;
}

/** The plan for an action; `null` if only the general path may answer. */
export function planFor({ actions, plans, map, other }: PlanList, action: string): Plan | null {
  if (map !== null) {
    const plan = map.get(action);
    return plan === undefined ? other : plan;
  }
  for (let at = 0; at < actions.length; at += 1) if (action === actions[at]) return plans[at]!;
  return other;
}

/** Bounds on the names of kinds without plans that are remembered. */
const MAX_WITHOUT = 1024;
const MAX_WITHOUT_LENGTH = 256;

/** Sizes of the tables of names, powers of two. */
const FIRST_SIZE = 64;
const MAX_SIZE = 1 << 18;
