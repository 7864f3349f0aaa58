// Reads the options and questions of `wardgate/analysis`.

import { describe, describeClass, membersOf } from "../base/describe.ts";
import { knownMembers, readOneOf, readText, readWhole } from "../base/option.ts";
import { readTableOptions, type LintOptions } from "../compiler/compiler-options.ts";
import { readFile, type FileContents } from "../compiler/policy-files.ts";
import type { Head, ModuleFile } from "./analysis-message.ts";
import type { RuleGroupKind, Suggestion } from "./analysis-types.ts";

/** The options of `indexOf`. */
export interface IndexOptions extends LintOptions {
  /** The folder that answers put before paths. Default: none. */
  readonly directory?: string | undefined;
}

/** The options of `similar`. */
export interface SimilarOptions extends IndexOptions {
  /** The largest number of matches for each rule, from 1 to 1000. Default: 10. */
  readonly top?: number | undefined;
}

/** The options of `analyze`. */
export interface AnalyzeOptions extends IndexOptions {
  /** Only findings of these kinds. Default: all kinds. */
  readonly only?: readonly Suggestion["kind"][] | undefined;
}

/** The options of `compare`. Those of tables hold for both sides. */
export interface CompareOptions extends LintOptions {
  /** The folders that answers put before the paths of both sides. Default: none. */
  readonly directories?: readonly [old: string, new: string] | undefined;
  /**
   * The time at which requests are decided that show a difference, as a `Date` or in milliseconds since 1970. Default: the
   * current time.
   */
  readonly now?: Date | number | undefined;
}

/** The rules that others are compared with: those of a policy among the files, or of a draft. */
export type SimilarQuery =
  /** A policy such as `resource.album.vdefault`, or one of its rules such as `resource.album.vdefault#rule-001`. */
  | { readonly to: string }
  /**
   * The contents of a file of one policy, which need not be among the files. What it imports comes from them, and the policy
   * that it would replace is left out. `path` is its name in diagnostics; default: `draft.yaml`.
   */
  | { readonly draft: FileContents; readonly path?: string | undefined };

/** The code of the module, and a head for it. */
export interface Settings {
  readonly code: unknown;
  readonly head: Head;
}

export function readIndexOptions(options: unknown, others: readonly string[] = []): Settings {
  const { code, moduleOptions, members } = readTableOptions(options, ["directory", ...others]);
  return { code, head: { ...moduleOptions, directory: readText(members.get("directory"), "directory") ?? "" } };
}

export function readSimilarOptions(options: unknown): Settings & { readonly top: number } {
  const settings = readIndexOptions(options, ["top"]);
  return { ...settings, top: readTop(membersOf(options)!.get("top")) };
}

export function readAnalyzeOptions(options: unknown): Settings {
  const { code, head } = readIndexOptions(options, ["only"]);
  return { code, head: { ...head, only: readKinds(membersOf(options)!.get("only"), [...OTHER_KINDS, ...KINDS]) } };
}

export function readCompareOptions(options: unknown): Settings {
  const { code, moduleOptions, members } = readTableOptions(options, ["directories", "now"]);
  return { code, head: { ...moduleOptions, directories: readDirectories(members.get("directories")), now: readNow(members.get("now")) } };
}

/** Reads a number of matches. */
export function readTop(value: unknown): number {
  const top = readWhole(value, "top", MAX_TOP) ?? DEFAULT_TOP;
  if (top > 0) return top;
  throw new RangeError(`option \`top\` must be a whole number from 1 to ${MAX_TOP}, found 0`);
}

/** Reads names of kinds, by default of groups. */
export function readKinds(value: unknown, kinds: readonly string[] = KINDS): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new TypeError(`option \`only\` must be a list of kinds, found ${describe(value)}`);
  if (value.length > MAX_KINDS) throw new RangeError(`option \`only\` must have at most ${MAX_KINDS} kinds`);
  return value.map((kind: unknown) => {
    if (typeof kind !== "string") throw new TypeError(`option \`only\` must be a list of kinds, found ${describe(kind)} in it`);
    return readOneOf(kind, "only", kinds)!;
  });
}

/** Reads a question: the head of its message, and its draft. */
export function readQuery(query: unknown, top: number): { readonly head: Head; readonly files: readonly ModuleFile[] } {
  const given = membersOf(query);
  if (given === undefined) throw new TypeError(`a query must be an object with \`to\` or \`draft\`, found ${describeClass(query)}`);
  const members = knownMembers(Object.fromEntries(given), ["to", "draft", "path"]);
  const [to, draft, path] = ["to", "draft", "path"].map((name) => members.get(name));
  if ((to === undefined) === (draft === undefined)) throw new TypeError("a query has either `to` or `draft`");
  if (to !== undefined) {
    if (path !== undefined) throw new TypeError("`path` of a query is the name of its `draft`");
    return { head: { to: readText(to, "to")!, top }, files: [] };
  }
  return { head: { top }, files: [readFile(readText(path, "path") ?? "draft.yaml", draft)] };
}

function readDirectories(value: unknown): readonly string[] {
  if (value === undefined) return ["", ""];
  if (!Array.isArray(value) || value.length !== 2) {
    throw new TypeError(`option \`directories\` must be a list of two folders, found ${describe(value)}`);
  }
  return value.map((directory: unknown) => {
    if (typeof directory !== "string") throw new TypeError(`option \`directories\` must be a list of two folders, found ${describe(directory)} in it`);
    return readText(directory, "directories")!;
  });
}

/** Reads a time, in milliseconds. */
function readNow(value: unknown): number {
  const time = value === undefined ? Date.now() : value instanceof Date ? value.getTime() : value;
  if (typeof time !== "number") throw new TypeError(`option \`now\` must be a number or a Date, found ${describe(value)}`);
  if (!(time >= 0 && time <= MAX_TIME)) throw new RangeError(`option \`now\` must be a time from 1970 to 9999, found ${time}`);
  return Math.floor(time);
}

const KINDS: readonly RuleGroupKind[] = ["same-rule", "differs-in", "same-shape"];
/** The kinds of suggestions that are no groups. */
const OTHER_KINDS: readonly Exclude<Suggestion["kind"], RuleGroupKind>[] = [
  "merge",
  "derived-role",
  "same-in-parent-scope",
  "shadowed-across",
  "never-decides",
  "contradiction",
];
const MAX_KINDS = 64;
const DEFAULT_TOP = 10;
const MAX_TOP = 1000;
/** The end of the year 9999. */
const MAX_TIME = Date.UTC(10_000, 0) - 1;
