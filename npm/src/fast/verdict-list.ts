// The fast paths with verdicts for one kind, version and scope, and the texts of their verdicts.

import { intern, isWellFormed } from "../base/text.ts";
import { ACTIONS, digestOfAction, type FastPathList } from "./kinds.ts";
import type { FastPath } from "./fast-paths.ts";

/** The decision on an action, as the module writes it. */
export interface VerdictText {
  readonly effect: "allow" | "deny";
  readonly policy: string;
  readonly scope: string;
  readonly reason: { readonly kind: string; readonly rule?: string };
}

/** A fast path, and the decisions that its answers stand for. */
export interface VerdictPath {
  readonly fastPath: FastPath;
  readonly texts: Map<number, VerdictText>;
}

/** The calls that load what a list lacks. */
export interface VerdictReader {
  /** Returns a fast path; `null` if only the general path decides, `undefined` if not now. */
  fastPath(id: number): FastPath | null | undefined;
  /** Returns the decision that an answer stands for. */
  text(fastPath: number, answer: number): VerdictText | null;
  /** Returns the names of derived roles. */
  names(granted: number): readonly string[];
}

/** The verdicts on the actions of one kind. */
export class VerdictList {
  readonly #list: FastPathList;
  readonly #reader: VerdictReader;
  /** A hash table by a digest of the action, as in `FastPathList`. */
  readonly #actions: string[] = Array.from({ length: ACTIONS }, () => "");
  readonly #paths: (VerdictPath | null)[] = Array.from({ length: ACTIONS }, () => null);
  readonly #byId = new Map<number, VerdictPath>();
  readonly #names = new Map<number, readonly string[]>();
  /** The fast path that grants derived roles; `null` if there are none. */
  readonly grants: FastPath | null;

  constructor(list: FastPathList, grants: FastPath | null, reader: VerdictReader) {
    this.#list = list;
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
    const [id, isListed] = this.#list.verdictsOf(action);
    if (id < 0) return null;
    let path = this.#byId.get(id);
    if (path === undefined) {
      const fastPath = this.#reader.fastPath(id);
      if (fastPath === null || fastPath === undefined) return null;
      path = { fastPath, texts: new Map() };
      this.#byId.set(id, path);
    }
    if (isListed && this.#actions[at] === "" && action !== "") {
      this.#actions[at] = intern(action);
      this.#paths[at] = path;
    }
    return path;
  }

  /** Returns the decision that an answer stands for. */
  text({ fastPath, texts }: VerdictPath, answer: number): VerdictText | null {
    const key = answer & VERDICT;
    const known = texts.get(key);
    if (known !== undefined) return known;
    const text = this.#reader.text(fastPath.id, answer);
    if (text !== null) texts.set(key, text);
    return text;
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

/** Bounds on the length of an action and on the remembered sets of derived roles. */
const MAX_ACTION = 64;
const MAX_NAMES = 1024;
