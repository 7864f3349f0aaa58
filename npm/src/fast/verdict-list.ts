// The fast paths with verdicts for one kind, version and scope, and the texts of their verdicts.

import { intern, isWellFormed } from "../base/text.ts";
import { EMITS } from "../wasm/frame.ts";
import { ACTIONS, digestOfAction, type VerdictIds } from "./kinds.ts";
import type { FastPath } from "./fast-paths.ts";

/** The decision on an action, as the module writes it. */
export interface VerdictText {
  readonly effect: "allow" | "deny";
  readonly policy: string;
  readonly scope: string;
  readonly reason: { readonly kind: string; readonly rule?: string };
}

/** An output with its value, whose action is still empty. */
export interface FastOutput {
  readonly src: string;
  action: string;
}

/** The number of the fast path that denies every action on a kind that no policy is about. */
export const NO_POLICY = -1;

/** The decision on each action of such a kind. */
export const NO_MATCH: VerdictText = { effect: "deny", policy: "NO_MATCH", scope: "", reason: { kind: "no-policy" } };

/** A fast path, and the decisions that its answers stand for. */
export interface VerdictPath {
  readonly fastPath: FastPath;
  readonly texts: Map<number, VerdictText>;
}

/** The calls that load what a list lacks. */
export interface VerdictReader {
  /** Returns a fast path; `null` if only the general path decides, `undefined` if not now. */
  fastPath(id: number): FastPath | null | undefined;
  /**
   * Returns the number of the fast path of an action by the patterns that match it; -1 is none,
   * `undefined` is not now.
   */
  matching(action: string): number | undefined;
  /** Returns the decision that an answer stands for. */
  text(fastPath: number, answer: number): VerdictText | null;
  /** Returns the names of derived roles. */
  names(granted: number): readonly string[];
  /** Returns the outputs beside a verdict whose frame is still there; `null` if the general path must make them. */
  outputs(fastPath: number, answer: number, roles: number, now: number): readonly FastOutput[] | null;
}

/** The verdicts on the actions of one kind. */
export class VerdictList {
  readonly #ids: VerdictIds;
  /** The fast paths of actions that patterns match. */
  readonly #matched = new Map<string, number>();
  readonly #reader: VerdictReader;
  /** A hash table by a digest of the action, as in `FastPathList`. */
  readonly #actions: string[] = Array.from({ length: ACTIONS }, () => "");
  readonly #paths: (VerdictPath | null)[] = Array.from({ length: ACTIONS }, () => null);
  readonly #byId = new Map<number, VerdictPath>();
  readonly #names = new Map<number, readonly string[]>();
  /** The fast path that grants derived roles; `null` if there are none. */
  readonly grants: FastPath | null;

  constructor(ids: VerdictIds, grants: FastPath | null, reader: VerdictReader) {
    this.#ids = ids;
    this.grants = grants;
    this.#reader = reader;
  }

  /** Returns the fast path of an action; `null` if only the general path may decide. */
  path(action: string): VerdictPath | null {
    const at = digestOfAction(action);
    return this.#actions[at] === action && action !== "" ? this.#paths[at]! : this.#miss(action, at);
  }

  #miss(action: string, at: number): VerdictPath | null {
    // A long name takes steps, and the general path refuses half of a surrogate pair.
    if (action.length > MAX_ACTION || !isWellFormed(action)) return null;
    const listed = this.#ids.actions.get(action);
    const id = listed ?? this.#unlisted(action);
    if (id < 0) return null;
    let path = this.#byId.get(id);
    if (path === undefined) {
      const fastPath = this.#reader.fastPath(id);
      if (fastPath === null || fastPath === undefined) return null;
      path = { fastPath, texts: new Map() };
      this.#byId.set(id, path);
    }
    if (listed !== undefined && this.#actions[at] === "" && action !== "") {
      this.#actions[at] = intern(action);
      this.#paths[at] = path;
    }
    return path;
  }

  /** Returns the number of the fast path of an action that no rule names; -1 is none. */
  #unlisted(action: string): number {
    if (this.#ids.at < 0) return this.#ids.other;
    let id = this.#matched.get(action);
    if (id === undefined) {
      const found = this.#reader.matching(action);
      if (found === undefined) return -1;
      id = found;
      if (this.#matched.size === MAX_MATCHED) this.#matched.clear();
      this.#matched.set(intern(action), id);
    }
    return id;
  }

  /** Returns the decision that an answer stands for. */
  text({ fastPath, texts }: VerdictPath, answer: number): VerdictText | null {
    const key = answer & VERDICT;
    const known = texts.get(key);
    if (known !== undefined) return known;
    const text = this.#reader.text(fastPath.id, answer & ~EMITS);
    if (text !== null) texts.set(key, text);
    return text;
  }

  /** Returns the outputs beside the last verdict, for so many roles; `null` if the general path must make them. */
  outputs({ fastPath }: VerdictPath, answer: number, roles: number, now: number): readonly FastOutput[] | null {
    return this.#reader.outputs(fastPath.id, answer, roles, now);
  }

  /** Returns the names of granted derived roles. */
  names(granted: number): readonly string[] {
    let names = this.#names.get(granted);
    if (names === undefined) {
      names = this.#reader.names(granted);
      if (this.#names.size === MAX_NAMES) this.#names.clear();
      this.#names.set(granted, names);
    }
    return names;
  }
}

/** The bits of an answer that determine its text: without the last scope. */
const VERDICT = 0x3000_ffff;

/** Bounds on the length of an action and on what is remembered of actions and derived roles. */
const MAX_ACTION = 64;
const MAX_MATCHED = 256;
const MAX_NAMES = 1024;
