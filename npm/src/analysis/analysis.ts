// What policies mean together, for editors, reviews and playgrounds: the entry `wardgate/analysis`.
//
// It is `wardgate similar`, `analyze` and `compare` as a module of its own: the same files give the same answers. Programs
// that decide or compile do not load it.

import { membersOf } from "../base/describe.ts";
import { ignoreRejection } from "../base/web.ts";
import type { Diagnostic } from "../compiler/diagnostic.ts";
import { readFiles, type PolicyFiles } from "../compiler/policy-files.ts";
import { diagnosticsOf, type Answer, type AnalysisInstance } from "./analysis-abi.ts";
import type { ModuleFile } from "./analysis-message.ts";
import { start } from "./analysis-module.ts";
import {
  readAnalyzeOptions,
  readCompareOptions,
  readIndexOptions,
  readQuery,
  readSimilarOptions,
  type AnalyzeOptions,
  type CompareOptions,
  type IndexOptions,
  type Settings,
  type SimilarOptions,
  type SimilarQuery,
} from "./analysis-options.ts";
import type { Comparison, PolicyIndex, Similar, Suggestion } from "./analysis-types.ts";
import { OpenedIndex, similarOf } from "./policy-index.ts";

export type { AnalyzeOptions, CompareOptions, IndexOptions, SimilarOptions, SimilarQuery } from "./analysis-options.ts";
export type {
  AccessDifference,
  AccessPlace,
  ComparedDecision,
  Comparison,
  GroupedRule,
  PolicyIndex,
  RuleDerivation,
  RuleDifference,
  RuleEdit,
  RuleFinding,
  RuleFindingKind,
  RuleGroup,
  RuleGroupKind,
  RuleMerge,
  RulePart,
  RulePlace,
  RuleRelation,
  Similar,
  SimilarPolicy,
  SimilarRule,
  SimilarRules,
  Suggestion,
  UnknownAccess,
} from "./analysis-types.ts";
export { WardgateError, type Code } from "../base/errors.ts";
export type { Diagnostic, DiagnosticCode, LintCode, Position } from "../compiler/diagnostic.ts";
export type { FileContents, PolicyFiles } from "../compiler/policy-files.ts";

/** The result of `analyze`. */
export interface Analyzed {
  /**
   * The merges, the derived roles, the findings about rules and the groups, those first that save most; absent if the policies
   * have errors.
   */
  readonly findings?: readonly Suggestion[];
  /** The errors in the policies. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of `compare`. */
export interface Compared {
  /** The comparison; absent if the policies of a side have errors. */
  readonly comparison?: Comparison;
  /** The errors in the policies of both sides. */
  readonly diagnostics: { readonly old: readonly Diagnostic[]; readonly new: readonly Diagnostic[] };
}

/** The result of `indexOf`. */
export interface Indexed {
  /** The index; absent if the policies have errors. */
  readonly index?: PolicyIndex;
  /** The errors in the policies. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the policies that are most like a policy or a draft and the rules that are most like its rules, as `wardgate
 * similar` does.
 *
 * Errors in the policies become diagnostics; they are never thrown. To ask more than once, use {@link indexOf}.
 *
 * @throws TypeError if the files, the query or an option have the wrong kind, or an option is unknown.
 * @throws RangeError if there is no such policy or rule, the draft holds no policy, a value is out of range, or the files
 * have more than 1 GiB together.
 * @throws WardgateError if the module cannot be loaded, or with the code `internal` if it fails, for example for lack of
 * memory.
 *
 * @example
 *     const { rules } = await similar(files, { to: "resource.album.vdefault" }, { top: 3 });
 *     for (const { rule, matches } of rules) console.log(rule, matches[0]?.policy, matches[0]?.score);
 */
export async function similar(files: PolicyFiles, query: SimilarQuery, options: SimilarOptions = {}): Promise<Similar> {
  ignoreRejection(membersOf(options)?.get("code"));
  const { top, ...settings } = readSimilarOptions(options);
  const question = readQuery(query, top);
  const { instance, opened } = await open(readFiles(files), settings);
  return similarOf(opened.kind === "answer" ? instance.call("similar", question.head, question.files) : opened);
}

/**
 * Returns what policies could do without or say in fewer words, as `wardgate analyze` does: rules of one policy that can be
 * one and derived roles that would carry conditions, with edits that are proved to change no decision; rules that decide
 * nothing; rules that contradict each other; groups of rules that are alike.
 *
 * Proofs can take seconds. For large sets use a worker.
 *
 * @throws as {@link similar} does.
 *
 * @example
 *     const { findings } = await analyze(files, { only: ["same-rule"] });
 */
export async function analyze(files: PolicyFiles, options: AnalyzeOptions = {}): Promise<Analyzed> {
  ignoreRejection(membersOf(options)?.get("code"));
  const { code, head } = readAnalyzeOptions(options);
  const read = readFiles(files);
  const answer = (await start(code)).call("analyze", head, read);
  if (answer.kind === "diagnostics") return { diagnostics: diagnosticsOf(answer) };
  return { findings: JSON.parse(answer.json) as NonNullable<Analyzed["findings"]>, diagnostics: [] };
}

/**
 * Returns who may do more and who may do less with the files `after` than with the files `before`, as `wardgate compare`
 * does. It takes policies only and no bundles.
 *
 * A comparison can take seconds: its bound is that of the command. For large sets use a worker.
 *
 * @throws as {@link similar} does.
 *
 * @example
 *     const { comparison } = await compare({ "album.yaml": old }, { "album.yaml": text });
 *     const gained = comparison.differences.filter(({ change }) => change === "more");
 */
export async function compare(before: PolicyFiles, after: PolicyFiles, options: CompareOptions = {}): Promise<Compared> {
  ignoreRejection(membersOf(options)?.get("code"));
  const { code, head } = readCompareOptions(options);
  const [old, changed] = [readFiles(before), readFiles(after)];
  const instance = await start(code);
  const { kind, json } = instance.call("compare", { ...head, oldFiles: old.length }, [...old, ...changed]);
  if (kind === "diagnostics") return { diagnostics: JSON.parse(json) as Compared["diagnostics"] };
  return { comparison: JSON.parse(json) as Comparison, diagnostics: { old: [], new: [] } };
}

/**
 * Makes an index of policies that an editor keeps: it answers `similar` and `groups`, and takes one changed file at a time.
 *
 * @throws as {@link similar} does.
 *
 * @example
 *     const { index } = await indexOf(files);
 *     index.replace("album.yaml", text);
 *     const { rules } = index.similar({ to: "resource.album.vdefault" }, 3);
 */
export async function indexOf(files: PolicyFiles, options: IndexOptions = {}): Promise<Indexed> {
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readIndexOptions(options);
  const read = readFiles(files);
  const { instance, opened } = await open(read, settings);
  if (opened.kind === "diagnostics") return { diagnostics: diagnosticsOf(opened) };
  return { index: new OpenedIndex(instance, read, settings.head), diagnostics: [] };
}

async function open(files: readonly ModuleFile[], { code, head }: Settings): Promise<{ readonly instance: AnalysisInstance; readonly opened: Answer }> {
  const instance = await start(code);
  return { instance, opened: instance.call("open", head, files) };
}
