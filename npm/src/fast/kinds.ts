// The plan lists of the kinds, found by the names that requests give.

import type { FastPath, FastPaths } from "./fast-paths.ts";
import { interned } from "../base/text.ts";

/** Reads a plan; `null` if only the general path may answer, `undefined` if it cannot be read now. */
export type ReadFastPath = (id: number) => FastPath | null | undefined;

/** The plans for one kind, version and scope. Each is read when somebody asks about its action. */
export class FastPathList {
  /** Most of the plans that were read, by a digest of the action. */
  readonly actions: string[] = Array.from({ length: ACTIONS }, () => "");
  readonly fastPaths: (FastPath | null)[] = Array.from({ length: ACTIONS }, () => null);
  /** The plans of all actions that a rule names, by their numbers until they were read. */
  readonly #all: Map<string, FastPath | null | number>;
  #other: FastPath | null | number;
  readonly #read: ReadFastPath;

  constructor(all: Iterable<readonly [action: string, plan: number]>, other: number, read: ReadFastPath) {
    this.#all = new Map(all);
    this.#other = other;
    this.#read = read;
  }

  /** Finds a plan that does not stand where its digest says, or was not read yet. */
  miss(action: string): FastPath | null {
    const found = this.#all.get(action);
    if (found === undefined) return this.#forOtherActions();
    if (typeof found !== "number") return found;
    const fastPath = this.#read(found);
    if (fastPath === undefined) return null;
    this.#all.set(action, fastPath);
    const at = digestOfAction(action);
    // The first one to come has the place.
    if (this.actions[at] === "" && action !== "") {
      this.actions[at] = action;
      this.fastPaths[at] = fastPath;
    }
    return fastPath;
  }

  #forOtherActions(): FastPath | null {
    if (typeof this.#other !== "number") return this.#other;
    const fastPath = this.#read(this.#other);
    if (fastPath === undefined) return null;
    return (this.#other = fastPath);
  }
}

/** The plan lists of one version and scope, by kind. */
export class Kinds {
  /** The lists by their names, found by a digest of the name; see `digest`. */
  names: string[] = Array.from({ length: FIRST_SIZE }, () => "");
  lists: (FastPathList | null)[] = Array.from({ length: FIRST_SIZE }, () => null);
  mask = FIRST_SIZE - 1;
  readonly #all = new Map<string, FastPathList>();
  readonly #without = new Set<string>();
  readonly version: string;
  readonly scope: string;

  constructor(version: string, scope: string) {
    this.version = version;
    this.scope = scope;
  }

  /** Finds a list that does not stand where its digest says, or is not here yet. */
  miss(fastPaths: FastPaths, kind: string): FastPathList | null {
    const known = this.#all.get(kind);
    if (known !== undefined) return known;
    if (this.#without.has(kind)) return null;
    const list = fastPaths.load(this, kind);
    // What is kept is a string of its own: that of the request may be a piece of a long one.
    if (list !== null) this.#add(interned(kind), list);
    else if (fastPaths.isLive && kind.length <= MAX_WITHOUT_LENGTH) this.#exclude(interned(kind));
    return list;
  }

  #add(kind: string, list: FastPathList): void {
    this.#all.set(kind, list);
    if (this.#all.size * 4 > this.names.length && this.names.length < MAX_SIZE) this.#grow();
    else this.#place(kind, list);
  }

  /** The first one to come has the place; others with the same digest take the longer way. */
  #place(kind: string, list: FastPathList): void {
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
export function planFor(list: FastPathList, action: string): FastPath | null {
  const { actions, fastPaths } = list;
  const at = digestOfAction(action);
  return actions[at] === action && action !== "" ? fastPaths[at]! : list.miss(action);
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
