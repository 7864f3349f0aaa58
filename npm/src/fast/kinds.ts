// Finds the list of fast paths for the kind of a resource.

import type { FastPath, FastPaths } from "./fast-paths.ts";
import type { Fields } from "../base/plain.ts";
import { intern } from "../base/text.ts";
import type { VerdictList } from "./verdict-list.ts";

/**
 * Loads a fast path; `null` if only the general path may decide, `undefined` if it cannot be loaded
 * now.
 */
export type ReadFastPath = (id: number) => FastPath | null | undefined;

/** Loads the fast path of an action that no rule names; `null` and `undefined` as above. */
export type MatchAction = (action: string) => FastPath | null | undefined;

/**
 * The fast paths for one kind, version and scope. Each is loaded when its action is requested
 * first.
 */
export class FastPathList {
  /** False if no policy is about the kind: many kinds share the list. */
  readonly hasPolicy: boolean;
  /** The verdicts on such a kind; `null` if only the general path knows them. */
  readonly denials: VerdictList | null;
  /**
   * A hash table of loaded fast paths, by a digest of the action. An action that collides with an
   * earlier one is left out.
   */
  readonly actions: string[] = Array.from({ length: ACTIONS }, () => "");
  readonly fastPaths: (FastPath | null)[] = Array.from({ length: ACTIONS }, () => null);
  /** The fast paths of all actions that a rule names; their numbers until they are loaded. */
  readonly #all: Map<string, FastPath | null | number>;
  #other: FastPath | null | number;
  readonly #read: ReadFastPath;
  readonly #verdicts: VerdictIds;
  readonly #match: MatchAction | undefined;
  /** The fast paths of actions that patterns match. */
  readonly #matched = new Map<string, FastPath | null>();

  constructor(
    all: Iterable<readonly [action: string, plan: number]>,
    other: FastPath | null | number,
    read: ReadFastPath,
    verdicts: VerdictIds | { readonly denials: VerdictList | null },
    match?: MatchAction,
  ) {
    this.hasPolicy = !("denials" in verdicts);
    this.denials = "denials" in verdicts ? verdicts.denials : null;
    this.#match = match;
    this.#all = new Map(all);
    this.#other = other;
    this.#read = read;
    this.#verdicts = "denials" in verdicts ? NO_VERDICTS : verdicts;
  }

  /** The numbers of the fast paths with verdicts. */
  get verdicts(): VerdictIds {
    return this.#verdicts;
  }

  /** Returns a fast path that is missing in the hash table, and loads it if necessary. */
  miss(action: string): FastPath | null {
    const found = this.#all.get(action);
    if (found === undefined) return this.#match === undefined ? this.#forOtherActions() : this.#forMatched(action, this.#match);
    if (typeof found !== "number") return found;
    const fastPath = this.#read(found);
    if (fastPath === undefined) return null;
    this.#all.set(action, fastPath);
    const at = digestOfAction(action);
    // The first action with this digest gets the entry.
    if (this.actions[at] === "" && action !== "") {
      this.actions[at] = action;
      this.fastPaths[at] = fastPath;
    }
    return fastPath;
  }

  /** Loads the fast path of the first action. */
  preload(): void {
    for (const [action] of this.#all) return void this.miss(action);
  }

  /** Returns the fast path of an action by the patterns that match it, and remembers it. */
  #forMatched(action: string, match: MatchAction): FastPath | null {
    const known = this.#matched.get(action);
    if (known !== undefined) return known;
    if (action.length > MAX_MATCHED_LENGTH) return null;
    const fastPath = match(action);
    if (fastPath === undefined) return null;
    if (this.#matched.size === MAX_MATCHED) this.#matched.clear();
    this.#matched.set(intern(action), fastPath);
    return fastPath;
  }

  #forOtherActions(): FastPath | null {
    if (typeof this.#other !== "number") return this.#other;
    const fastPath = this.#read(this.#other);
    if (fastPath === undefined) return null;
    return (this.#other = fastPath);
  }
}

/** The numbers of the fast paths with verdicts; -1 is none. */
export interface VerdictIds {
  readonly actions: ReadonlyMap<string, number>;
  readonly other: number;
  readonly grants: number;
  /** The offset of the list if patterns decide about other actions, else -1. */
  readonly at: number;
}

/** None. */
export const NO_VERDICTS: VerdictIds = { actions: new Map(), other: -1, grants: -1, at: -1 };

/** The lists of one version and scope, by kind. */
export class Kinds {
  /** A hash table of the lists, by a digest of the kind; see `digest`. */
  names = emptyNames(FIRST_SIZE);
  lists = noLists(this.names);
  mask = FIRST_SIZE - 1;
  readonly #all = new Map<string, FastPathList>();
  /** The verdicts on each kind that was checked. */
  readonly verdicts = new Map<string, VerdictList | null>();
  /** Kinds without fast paths of their own. */
  readonly #without = new Map<string, FastPathList | null>();
  readonly #maxWithout: number;
  readonly version: string;
  readonly scope: string;
  /** The principal that the lists are for, if it has policies of its own. */
  readonly principal: string | undefined;
  readonly #own = new Map<string, Kinds>();

  /** Creates tables for a number of kinds; they grow with more. */
  constructor(version: string, scope: string, expected = 0, maxWithout = MAX_WITHOUT, principal?: string) {
    this.principal = principal;
    this.#maxWithout = maxWithout;
    this.version = version;
    this.scope = scope;
    let size = FIRST_SIZE;
    while (size < expected * 4 && size < MAX_SIZE) size *= 4;
    if (size > FIRST_SIZE) this.#resize(size);
  }

  /** Returns a list that is missing in the hash table, and loads it if necessary. */
  miss(fastPaths: FastPaths, kind: string): FastPathList | null {
    const known = this.#all.get(kind);
    if (known !== undefined) return known;
    const without = this.#without.get(kind);
    if (without !== undefined) return without;
    const list = fastPaths.load(this, kind);
    // The stored string is a copy: the string of a request may be a slice of a long one.
    if (list?.hasPolicy === true) this.#add(intern(kind), list);
    else if (fastPaths.isLive && kind.length <= MAX_NAME_LENGTH) this.#exclude(intern(kind), list);
    return list;
  }

  /** Returns the lists of a principal with policies of its own, for the same version and scope. */
  own(principal: string): Kinds {
    let own = this.#own.get(principal);
    if (own === undefined) {
      own = new Kinds(this.version, this.scope, 0, MAX_OWN_WITHOUT, intern(principal));
      this.#own.set(own.principal!, own);
    }
    return own;
  }

  #add(kind: string, list: FastPathList): void {
    this.#all.set(kind, list);
    if (this.#all.size * 4 > this.names.length && this.names.length < MAX_SIZE) this.#resize(this.names.length * 4);
    else this.#place(kind, list);
  }

  /** The first kind with this digest gets the entry; others take the slower lookup. */
  #place(kind: string, list: FastPathList): void {
    const at = digest(kind) & this.mask;
    if (this.lists[at] !== null) return;
    this.names[at] = kind;
    this.lists[at] = list;
  }

  #resize(size: number): void {
    this.names = emptyNames(size);
    this.lists = noLists(this.names);
    this.mask = size - 1;
    for (const [kind, list] of this.#all) this.#place(kind, list);
  }

  /** Clears the map when it is full: kinds that are requested often soon return to it. */
  #exclude(kind: string, list: FastPathList | null): void {
    if (this.#without.size === this.#maxWithout) this.#without.clear();
    this.#without.set(kind, list);
  }
}

// An array without holes, which native code fills: a callback for each entry would take 0.1 ms in a
// program that has just started.
function emptyNames(size: number): string[] {
  return ",".repeat(size - 1).split(",");
}

function noLists(names: readonly unknown[]): (FastPathList | null)[] {
  return (names.slice() as (FastPathList | null)[]).fill(null);
}

/** The kinds that `planKinds` writes, each followed by the number of its list. */
export type KindNumbers = readonly (string | number)[];

/** Returns the number of the list of each kind. */
export function numbersOf(kinds: KindNumbers): ReadonlyMap<string, number> {
  const numbers = new Map<string, number>();
  for (let at = 0; at < kinds.length; at += 2) numbers.set(kinds[at] as string, kinds[at + 1] as number);
  return numbers;
}

/**
 * Returns a number for a name that is cheap to compute: kinds with equal starts and lengths mostly
 * differ in their last characters. The hot functions inline it. A `Map` costs twice as much,
 * because it needs a hash of the whole name.
 */
export function digest(name: string): number {
  const n = name.length;
  if (n === 0) return 0;
  return n * 7 + name.charCodeAt(n - 1) + name.charCodeAt(n > 1 ? n - 2 : 0) * 37 +
    name.charCodeAt(n > 2 ? n - 3 : 0) * 1009;
}

/** Returns the list of a kind; `null` if only the general path may decide. */
export function listOf(fastPaths: FastPaths, kinds: Kinds, kind: string): FastPathList | null {
  const at = digest(kind) & kinds.mask;
  return kinds.names[at] === kind ? kinds.lists[at]! : kinds.miss(fastPaths, kind);
}

/**
 * Returns the list for a principal with policies of its own; `null` as above. Fast paths cover the
 * policies in the root scope. The version of principal policies is that of the resource.
 */
export function ownList(fastPaths: FastPaths, kinds: Kinds, { id, scope }: Fields, kind: string): FastPathList | null {
  if (typeof id !== "string" || (scope !== undefined && scope !== "")) return null;
  return listOf(fastPaths, kinds.own(id), kind);
}

/** Returns the fast path of a principal with policies of its own for an action; `null` as above. */
export function ownPath(fastPaths: FastPaths, kinds: Kinds, principal: Fields, kind: string, action: string): FastPath | null {
  const list = ownList(fastPaths, kinds, principal, kind);
  return list === null ? null : planFor(list, action);
}

/** Returns the fast path for an action; `null` if only the general path may decide. */
export function planFor(list: FastPathList, action: string): FastPath | null {
  const { actions, fastPaths } = list;
  const at = digestOfAction(action);
  return actions[at] === action && action !== "" ? fastPaths[at]! : list.miss(action);
}

/**
 * Actions of one kind mostly differ in length or first character. A scan of all actions costs 3 ns
 * more.
 */
export const digestOfAction = (action: string): number =>
  action.length === 0 ? 0 : (action.length * 5 + action.charCodeAt(0)) & (ACTIONS - 1);

/** The entries for the actions of one list, a power of two. */
export const ACTIONS = 32;

/** Bounds on the remembered actions of one list. The engine compares no longer ones with patterns. */
const MAX_MATCHED = 256;
const MAX_MATCHED_LENGTH = 64;

/** Bounds on the remembered names of kinds without fast paths. */
const MAX_WITHOUT = 1024;
const MAX_OWN_WITHOUT = 64;
export const MAX_NAME_LENGTH = 256;

/** The sizes of the tables of names, powers of two. */
const FIRST_SIZE = 64;
const MAX_SIZE = 1 << 18;
