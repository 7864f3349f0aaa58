// The plan lists of the kinds, found by the names that requests give.

import type { Plan, Plans } from "./plans.ts";
import { interned } from "./text.ts";

/** The plans for one kind, version and scope. */
export interface PlanList {
  /** The plan of each action that a rule names; `null` if only the general path may answer. */
  readonly map: ReadonlyMap<string, Plan | null>;
  readonly other: Plan | null;
  /** Most of `map` by a digest of the action. */
  readonly actions: readonly string[];
  readonly plans: readonly (Plan | null)[];
}

/** Makes a list. */
export function planList(map: ReadonlyMap<string, Plan | null>, other: Plan | null): PlanList {
  const actions = Array.from({ length: ACTIONS }, () => "");
  const plans = Array.from({ length: ACTIONS }, () => other);
  for (const [action, plan] of map) {
    const at = digestOfAction(action);
    // The first one to come has the place.
    if (actions[at] !== "" || action === "") continue;
    actions[at] = action;
    plans[at] = plan;
  }
  return { map, other, actions, plans };
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
    if (known !== undefined) return known;
    if (this.#without.has(kind)) return null;
    const list = plans.load(this, kind);
    // What is kept is a string of its own: that of the request may be a piece of a long one.
    if (list !== null) this.#add(interned(kind), list);
    else if (plans.isLive && kind.length <= MAX_WITHOUT_LENGTH) this.#exclude(interned(kind));
    return list;
  }

  #add(kind: string, list: PlanList): void {
    this.#all.set(kind, list);
    if (this.#all.size * 4 > this.names.length && this.names.length < MAX_SIZE) this.#grow();
    else this.#place(kind, list);
  }

  /** The first one to come has the place; others with the same digest take the longer way. */
  #place(kind: string, list: PlanList): void {
    const at = digest(kind) & this.mask;
    if (this.lists[at] !== null) return;
    this.names[at] = kind;
    this.lists[at] = list;
  }

  #grow(): void {
    const size = this.names.length * 4;
    this.names = Array.from({ length: size }, () => "");
    this.lists = Array.from({ length: size }, () => null);
    this.mask = size - 1;
    for (const [kind, list] of this.#all) this.#place(kind, list);
  }

  /** Forgets all when it is full: what is asked for often soon stands in it again. */
  #exclude(kind: string): void {
    if (this.#without.size === MAX_WITHOUT) this.#without.clear();
    this.#without.add(kind);
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
  const at = digestOfAction(action);
  if (actions[at] === action && action !== "") return plans[at]!;
  const plan = map.get(action);
  return plan === undefined ? other : plan;
}

/** Actions of one kind mostly differ in length or first character. To look through them all costs 3 ns more. */
const digestOfAction = (action: string): number =>
  action.length === 0 ? 0 : (action.length * 5 + action.charCodeAt(0)) & (ACTIONS - 1);

/** Places for the actions of one list, a power of two. */
const ACTIONS = 32;

/** Bounds on the names of kinds without plans that are remembered. */
const MAX_WITHOUT = 1024;
const MAX_WITHOUT_LENGTH = 256;

/** Sizes of the tables of names, powers of two. */
const FIRST_SIZE = 64;
const MAX_SIZE = 1 << 18;
