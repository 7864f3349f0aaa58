// The fast paths of a bundle: for each kind, version and scope a list by action, and for each fast
// path the steps that fill its slots.
//
// Opening returns the number of the list of each kind, and kinds with one number share a list. Lists
// and fast paths are loaded on first use, and stored under names that the table knows. A request
// with an invented name takes the general path each time and stores nothing.

import { answerText, planFor, planList, planOf } from "../wasm/abi.ts";
import { truthTableOf, NO_TABLE } from "./truth-table.ts";
import { BY_CLASS, DENY, LONE, MAX_SLOTS, NO_FRAME, NOW, PROGRAMS, USES_TEST, type Columns, type Frame } from "../wasm/frame.ts";
import { digest, Kinds, FastPathList, MAX_NAME_LENGTH, NO_VERDICTS, numbersOf, type KindNumbers } from "./kinds.ts";
import type { Runtime } from "../wasm/runtime.ts";
import { FIRST_ACCESSOR, MAX_ACCESSORS } from "./read-sites.ts";
import { isNow, isSchema } from "./derived.ts";
import { StepList, type Detail } from "./step-list.ts";
import {
  isTabled,
  operandsOf,
  readPairs,
  readsTokens,
  TEXTS,
  type WireFastPath,
  type WireList,
  type WirePairs,
  type WireSlot,
} from "./wire-paths.ts";
import { intern, isWellFormed } from "../base/text.ts";
import { NO_MATCH, NO_POLICY, VerdictList, type FastOutput, type VerdictReader, type VerdictText } from "./verdict-list.ts";

/** The roles that a fast path distinguishes, with the mask or class of each. */
export interface RoleTable {
  /** The number of the table within its bundle. */
  readonly id: number;
  /**
   * A bit for the length of each name, modulo 32. It excludes most other roles without a
   * comparison.
   */
  readonly lengths: number;
  readonly names: readonly string[];
  readonly masks: readonly number[];
  /** The same names as a map, if they are too many to scan. */
  readonly map: ReadonlyMap<string, number> | null;
  /** The mask of every other role. */
  readonly others: number;
}

/** One fast path: how to fill its slots and how to decide it. */
export interface FastPath {
  readonly id: number;
  readonly flags: number;
  /** The values that it reads. */
  readonly slots: readonly WireSlot[];
  readonly roles: RoleTable;
  /** True if it runs no program and its roles fit in a mask. Then `decide` is the call. */
  readonly isShort: boolean;
  /** The slots that hold the time of the decision. */
  readonly times: readonly number[];
  /** Its decisions by key, if there are few keys, and the last key; see `truth-table.ts`. */
  readonly truthTable: Uint8Array;
  readonly lastKey: number;
  readonly readsPrincipal: boolean;
  readonly readsResource: boolean;
  /** True if it reads the auxiliary data. */
  readonly readsTokens: boolean;
  readonly readsResourceId: boolean;
  /** The steps of its bundle, the range of its own steps, and their details. */
  // INVARIANT: the steps of a range never change, even if the bundle is replaced while a request is
  // being read.
  readonly steps: Int32Array;
  readonly details: readonly Detail[];
  readonly from: number;
  readonly to: number;
  /** True if many rows may be decided at once. The first call learns it. */
  columnar: boolean;
  /** A bit for each slot that held a string in some row. Reading learns it. */
  textual: number;
}

/** The state of the hot functions for one opened bundle. */
export class FastPaths {
  handle = 0;
  /** The frame of the instance in which `handle` means this bundle, while both are valid. */
  frame: Frame = NO_FRAME;
  kinds = new Kinds("", "");
  /** The number of the bundle: data that was prepared for an earlier one is prepared again. */
  edition = 0;
  /** The principals with policies of their own, which have lists of their own. */
  principals: ReadonlySet<string> = new Set();
  hasPrincipals = false;
  /** True if the bundle has an expiry time. Without one, no clock is read. */
  canExpire = false;
  readonly clock: () => number;
  #expires = Infinity;
  #generation = -1;
  #listCount = 0;
  #hasLoaded = false;
  #scopes = new Map<string, Map<string, Kinds>>();
  /** Versions and scopes without lists. */
  #strays = new Map<string, Kinds>();
  #byId = new Map<number, FastPath | null>();
  #lists = new Map<string, FastPathList>();
  /** The number of the list of each kind, as opening returned them, and the lists that were loaded. */
  #numbers: ReadonlyMap<string, number> = new Map();
  #byNumber = new Map<number, FastPathList>();
  #tables = new Map<string, RoleTable>();
  /** The steps of all fast paths. */
  #steps: StepList;

  readonly #runtime: Runtime;
  readonly #accessors: ReadonlyMap<string, number>;

  constructor(runtime: Runtime, clock: () => number, accessors: readonly string[] = []) {
    this.#runtime = runtime;
    this.clock = clock;
    this.#accessors = new Map(accessors.slice(0, MAX_ACCESSORS).map((name, at) => [name, FIRST_ACCESSOR + at]));
    this.#steps = new StepList(this.#accessors);
  }

  /**
   * Starts with a new bundle: the principals that have policies of their own, its expiry time, and
   * the kinds that share lists.
   */
  begin(ids: readonly string[], expires = Infinity, kinds: KindNumbers = []): void {
    this.reset();
    this.#numbers = numbersOf(kinds);
    this.kinds = new Kinds("", "", kinds.length / 2);
    this.#expires = expires;
    this.canExpire = expires !== Infinity;
    this.principals = new Set(ids);
    this.hasPrincipals = ids.length > 0;
  }

  /**
   * Loads the list of the first kind and one of its fast paths. The engine compiles the code for it
   * once, and all kinds with an equal list find it loaded. More fast paths would be loaded for
   * nothing in a program that only calls `check`: 0.1 ms each.
   */
  preload(): void {
    const [kind] = this.#numbers.keys();
    if (kind !== undefined) this.kinds.miss(this, kind)?.preload();
    this.#hasLoaded = false;
  }

  /** Continues with the same bundle under a new handle, for the instance in use. */
  resume(handle: number): void {
    this.handle = handle;
    this.#generation = this.#runtime.generation;
    this.frame = this.#runtime.frame();
  }

  /**
   * Replaces a frame that died because the memory grew, and returns true if the frame can be
   * written.
   */
  revive(): boolean {
    if (!this.isLive && this.#generation === this.#runtime.generation) this.frame = this.#runtime.frame();
    return this.isLive;
  }

  /** Drops all state; from then on the general path decides. */
  reset(): void {
    this.frame = NO_FRAME;
    this.#generation = -1;
    this.edition += 1;
    this.kinds = new Kinds("", "");
    this.#steps = new StepList(this.#accessors);
    this.#listCount = 0;
    this.#scopes = new Map();
    this.#strays = new Map();
    this.#byId = new Map();
    this.#lists = new Map();
    this.#numbers = new Map();
    this.#byNumber = new Map();
    this.#tables = new Map();
  }

  /**
   * Returns the lists of a version and scope; `null` for values that only the general path may
   * judge.
   */
  kindsOf(version: unknown, scope: unknown): Kinds | null {
    if (version === undefined) version = "";
    if (scope === undefined) scope = "";
    if (version === "" && scope === "") return this.kinds;
    if (typeof version !== "string" || typeof scope !== "string") return null;
    return this.#scopes.get(scope)?.get(version) ?? this.#stray(version, scope);
  }

  /** Returns the lists of a version and scope that has none so far, and may be an invented one. */
  #stray(version: string, scope: string): Kinds {
    const key = `${version.length} ${version}${scope}`;
    let kinds = this.#strays.get(key);
    if (kinds === undefined) {
      kinds = new Kinds(intern(version), intern(scope), 0, MAX_STRAYS);
      if (key.length > MAX_NAME_LENGTH) return kinds;
      if (this.#strays.size === MAX_STRAYS) this.#strays.clear();
      this.#strays.set(intern(key), kinds);
    }
    return kinds;
  }

  /**
   * Returns true if a retry can succeed: fast paths were loaded or the frame was rebuilt since the
   * last attempt. So the first request about a kind is decided like every other.
   */
  refresh(): boolean {
    const came = this.#hasLoaded;
    this.#hasLoaded = false;
    return (!this.isLive && this.revive()) || came;
  }

  /**
   * Returns true if the bundle has expired; the general path then decides what that means. A time
   * that is not a number counts as expired.
   */
  isExpired(): boolean {
    return this.canExpire && !(this.clock() < this.#expires);
  }

  /** Returns the columns of batches. The call may detach the frame. */
  columns(): Columns | null {
    return this.#runtime.columns();
  }

  /** Returns true if the frame can be written. */
  get isLive(): boolean {
    return this.frame.words.length !== 0;
  }

  /** Loads a list from the module; `null` if there is none. */
  load(kinds: Kinds, kind: string): FastPathList | null {
    const { version, scope, principal } = kinds;
    const number = kinds === this.kinds ? this.#numbers.get(kind) : undefined;
    const equal = number === undefined ? undefined : this.#byNumber.get(number);
    if (equal !== undefined) return equal;
    // Half of a surrogate pair would arrive as another character, and so as another name.
    if (!this.isLive || this.#listCount === MAX_LISTS || ![kind, version, scope].every(isWellFormed)) return null;
    // The call may grow the memory and takes a new serial, so the request that is being decided
    // stays unsure.
    this.#hasLoaded = true;
    const text = this.#runtime.call(() => planList(this.handle, kind, version, scope, principal));
    if (text === "") return null;
    let list = this.#lists.get(text);
    if (list === undefined) {
      const wire = JSON.parse(text) as WireList | null | false;
      list = wire ? this.#readList(wire) : this.#deniedList(wire === false && !this.hasPrincipals);
      this.#lists.set(text, list);
    }
    if (number !== undefined && list.hasPolicy) this.#byNumber.set(number, list);
    if (list.hasPolicy) this.#store(kinds);
    return list;
  }

  /**
   * Returns the verdicts on a kind, for a principal if it has policies of its own; `null` if the
   * general path decides. What is not loaded yet leaves the request unsure, as for lists.
   */
  verdicts(kind: string, version: unknown, scope: unknown, principal?: string): VerdictList | null {
    const all = this.kindsOf(version, scope);
    if (all === null) return null;
    const kinds = principal === undefined ? all : all.own(principal);
    const known = kinds.verdicts.get(kind);
    return known !== undefined ? known : this.#loadVerdicts(kinds, kind);
  }

  #loadVerdicts(kinds: Kinds, kind: string): VerdictList | null {
    const place = digest(kind) & kinds.mask;
    const list = kinds.names[place] === kind ? kinds.lists[place]! : kinds.miss(this, kind);
    if (list === null) return null;
    // Requests may invent any number of kinds that no policy is about: they share one list.
    if (!list.hasPolicy) return list.denials;
    const { grants: id, at } = list.verdicts;
    const grants = id < 0 ? null : this.#fastPath(id);
    if (grants === undefined) return null;
    const { edition } = this;
    const isCurrent = (): boolean => edition === this.edition && this.isLive;
    const { version, scope, principal = "" } = kinds;
    const verdicts = id >= 0 && grants === null ? null : new VerdictList(list.verdicts, grants, {
      fastPath: (id) => (edition === this.edition ? this.#fastPath(id) : undefined),
      matching: (action) => (isCurrent() ? this.#verdictFor(at, action) : undefined),
      text: (id, answer) =>
        isCurrent() ? this.#read<VerdictText>(() => answerText(this.handle, kind, version, scope, principal, id, answer, 0, 0, 0)) : null,
      outputs: (id, answer, roles, now) => {
        const { handle, frame: { used } } = this;
        return this.#read<FastOutput[]>(() => answerText(handle, kind, version, scope, principal, id, answer, roles, used, now));
      },
      names: (granted) => this.#read<string[]>(() => answerText(this.handle, kind, version, scope, "", -1, granted, 0, 0, 0)) ?? [],
    });
    kinds.verdicts.set(intern(kind), verdicts);
    return verdicts;
  }

  #verdictFor(at: number, action: string): number {
    this.#hasLoaded = true;
    return this.#runtime.call(() => planFor(this.handle, at, action, true));
  }

  /** Returns what a call into the module writes as JSON; `null` if it writes nothing. */
  #read<T>(call: () => string): T | null {
    const text = this.#runtime.call(call);
    return text === "" ? null : (JSON.parse(text) as T);
  }

  #store(kinds: Kinds): void {
    this.#listCount += 1;
    if (kinds === this.kinds || kinds.principal !== undefined) return;
    const versions = this.#scopes.get(kinds.scope) ?? new Map<string, Kinds>();
    this.#scopes.set(kinds.scope, versions.set(kinds.version, kinds));
  }

  /** Returns the list for kinds that no policy is about: every action is denied. `isKnown` says if it is for the same reason. */
  #deniedList(isKnown: boolean): FastPathList {
    const denied = this.#readFastPath(NO_POLICY, { flags: 0, others: 0, slots: [], roles: [] }, DENIED);
    const reader: VerdictReader = { fastPath: () => denied, matching: () => -1, text: () => NO_MATCH, names: () => [], outputs: () => null };
    const denials = isKnown ? new VerdictList({ ...NO_VERDICTS, other: 0 }, null, reader) : null;
    return new FastPathList([], denied, () => null, { denials });
  }

  #readList({ other: [other, otherVerdicts], grants, actions, at }: WireList): FastPathList {
    const { edition } = this;
    const named = actions.map(([name, fastPath]) => [intern(name), fastPath] as const);
    const verdicts = new Map(actions.map(([name, , id]) => [name, id] as const));
    // A list of an earlier bundle must not load fast paths of this one.
    const read = (id: number): FastPath | null | undefined => (edition === this.edition ? this.#fastPath(id) : undefined);
    const ids = { actions: verdicts, other: otherVerdicts, grants, at: at ?? -1 };
    const match = (action: string): FastPath | null | undefined => (edition === this.edition ? this.#matched(at!, action) : undefined);
    return at === undefined ? new FastPathList(named, other, read, ids) : new FastPathList(named, other, read, ids, match);
  }

  /** Returns the fast path of an action that the list at this offset does not name. */
  #matched(at: number, action: string): FastPath | null | undefined {
    if (!this.revive()) return undefined;
    if (!isWellFormed(action)) return null;
    this.#hasLoaded = true;
    return this.#fastPath(this.#runtime.call(() => planFor(this.handle, at, action, false)));
  }

  /**
   * Returns the fast path of this number; `undefined` if the frame has died, because the handle may
   * be invalid too.
   */
  #fastPath(id: number): FastPath | null | undefined {
    if (id < 0) return null;
    let fastPath = this.#byId.get(id);
    if (fastPath === undefined && this.revive()) {
      // As for lists: the request that is being decided stays unsure.
      this.#hasLoaded = true;
      const text = this.#runtime.call(() => planOf(this.handle, id));
      fastPath = text === "" ? null : this.#readFastPath(id, JSON.parse(text) as WireFastPath);
      this.#byId.set(id, fastPath);
    }
    return fastPath;
  }

  #readFastPath(id: number, { flags, others, slots, roles }: WireFastPath, known?: Uint8Array): FastPath | null {
    const from = this.#steps.length;
    const operands = operandsOf(slots);
    const times = slots.flatMap(({ test }, slot) => (isNow(test) ? [slot] : []));
    if (times.length > 0 && !(flags & NOW)) return null;
    // A schema reads the values that other slots have, wherever they stand.
    const inOrder = [...slots.entries()].sort(([, a], [, b]) => +isSchema(a.test) - +isSchema(b.test));
    for (const [slot, wire] of inOrder) {
      if (!isNow(wire.test) && !this.#steps.add(slot, wire, slots, operands.has(slot))) return null;
    }
    if (slots.length > MAX_SLOTS) return null;
    const isReadable = this.#steps.isReadable(from);
    const roots = slots.map(({ root }) => root);
    const isShort = (flags & (PROGRAMS | BY_CLASS | NOW)) === 0;
    const masks = roles.reduce((mask, [, bits]) => mask | bits, others);
    const truthTable = known ?? (isShort && isReadable ? this.#truthTable(id, slots, masks) : NO_TABLE);
    return {
      id,
      flags,
      slots,
      roles: this.#roleTable(others, roles),
      isShort,
      times,
      truthTable,
      lastKey: truthTable.length - 1,
      readsPrincipal: roots.includes("principal.attr"),
      readsResource: roots.includes("resource.attr"),
      readsTokens: roots.some(readsTokens),
      readsResourceId: roots.includes("resource.id"),
      steps: this.#steps.steps,
      details: this.#steps.details,
      from,
      to: this.#steps.length,
      columnar: isShort && isReadable && known === undefined && !slots.some(({ root, uses }) => uses & USES_TEST || readsTokens(root)),
      textual: 0,
    };
  }

  /**
   * Returns the truth table of a fast path that only compares its slots with each other, `null` and
   * booleans.
   */
  #truthTable(fastPath: number, slots: readonly WireSlot[], masks: number): Uint8Array {
    // The calls that loaded the fast path may have grown the memory.
    if (!slots.every(isTabled) || !this.revive()) return NO_TABLE;
    const { frame, handle } = this;
    const kinds = slots.map(({ root, test, uses }) => ({
      isText: test === undefined && TEXTS.has(root),
      isLone: (uses & LONE) !== 0,
      isTruth: test !== undefined,
    }));
    return truthTableOf({ frame, handle, fastPath }, kinds, masks);
  }

  #roleTable(others: number, roles: WirePairs): RoleTable {
    const key = JSON.stringify([others, roles]);
    let table = this.#tables.get(key);
    if (table === undefined) {
      const { texts, words, map } = readPairs(roles);
      const lengths = texts.reduce((bits, { length }) => bits | (1 << (length & 31)), 0);
      table = { id: this.#tables.size, lengths, names: texts, masks: words, map, others };
      this.#tables.set(key, table);
    }
    return table;
  }
}

/** The truth table of a fast path that denies everything. */
const DENIED = Uint8Array.of(DENY);

/**
 * A bound on the lists that requests with invented names could load: one kind has many spellings.
 */
const MAX_LISTS = 65_536;

/** A bound on the versions and scopes without lists, and on the kinds of each. */
const MAX_STRAYS = 64;
