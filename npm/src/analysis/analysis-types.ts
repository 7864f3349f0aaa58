// The answers about what policies mean together: the JSON of `wardgate similar`, `analyze` and `compare`.

import type { Diagnostic } from "../compiler/diagnostic.ts";
import type { FileContents } from "../compiler/policy-files.ts";
import type { SimilarQuery } from "./analysis-options.ts";

/** A rule, and where it stands. */
export interface RulePlace {
  /** The key of its policy, such as `resource.album.vdefault`. */
  readonly policy: string;
  /** The name of the rule; empty where a role policy gives none. */
  readonly rule: string;
  /** The path of its file. */
  readonly file: string;
  /** The line, counted from 1. */
  readonly line: number;
  /** The column in characters, counted from 1. */
  readonly column: number;
}

/** A part of a rule or of its place. Newer versions may add parts. */
export type RulePart =
  | "effect"
  | "actions"
  | "roles"
  | "condition"
  | "constants"
  | "output"
  | "kind"
  | "version"
  | "scope";

/** A part in which two rules differ. */
export interface RuleDifference {
  /** The part. */
  readonly part: RulePart;
  /** What only the rule of the question has. */
  readonly query: readonly string[];
  /** What only the other rule has. */
  readonly other: readonly string[];
}

/** A rule that is like another: the nearest of those that say the same. */
export interface SimilarRule extends RulePlace {
  /** The number of rules that say the same, this one included. */
  readonly rules: number;
  /**
   * The likeness, from 0 to 1: the weight of what both have, divided by the weight of what one of them has. It tells
   * nothing about requests; 1 may still differ in how a condition is joined.
   */
  readonly score: number;
  /** How the rule of the question relates to this one, wherever they stand. */
  readonly relation: RuleRelation;
  /** The parts that say the same. */
  readonly same: readonly RulePart[];
  /** The parts that differ; empty for the same rule in the same place. */
  readonly differs: readonly RuleDifference[];
}

/**
 * How the requests relate for which two rules are meant: `within` if those of the rule of the question are among those of the other,
 * `contains` the reverse, `disjoint` if no action is common, `contradict` if one allows and the other denies, and one of them is for all
 * requests of the other. Each is proved, and all else is `unknown`. Newer versions may add relations.
 */
export type RuleRelation = "equal" | "within" | "contains" | "disjoint" | "contradict" | "unknown";

/** A rule of a question, with the rules that are most like it. */
export interface SimilarRules {
  /** The key of the policy. */
  readonly policy: string;
  /** The name of the rule. */
  readonly rule: string;
  /** The rules, the most alike first. */
  readonly matches: readonly SimilarRule[];
}

/** The kind of a group. Newer versions may add kinds. */
export type RuleGroupKind = "same-rule" | "differs-in" | "same-shape";

/** A rule of a group. */
export interface GroupedRule extends RulePlace {
  /** What it has in the part in which the rules of the group differ. */
  readonly value?: readonly string[];
}

/** Rules that could be one. */
export interface RuleGroup {
  /** What they have in common. */
  readonly kind: RuleGroupKind;
  /** The part in which they differ; `null` for rules that say the same. */
  readonly part: RulePart | null;
  /** The parts of their places that differ. */
  readonly across: readonly RulePart[];
  /** The number of rules that would go if each policy had one of them. */
  readonly saves: number;
  /** The rules, at least two. */
  readonly rules: readonly GroupedRule[];
}

/** Rules of one policy that can be one. */
export interface RuleMerge {
  readonly kind: "merge";
  /** The parts in which they differ: roles, actions, both or none. */
  readonly parts: readonly RulePart[];
  /** The number of rules that go. */
  readonly saves: number;
  /** The rules, at least two. The first stays. */
  readonly rules: readonly RulePlace[];
  /** Edits that are proved to change no decision; empty if they were refused. */
  readonly edits: readonly RuleEdit[];
  /** The reason why there are no edits, in a few words; `null` if there are. */
  readonly refused: string | null;
}

/** A derived role that carries, or would carry, a condition of many rules. */
export interface RuleDerivation {
  readonly kind: "derived-role";
  /** The name of the derived role. */
  readonly name: string;
  /** The set of derived roles that defines it, or would. */
  readonly set: string;
  /** The path of the file of the set. */
  readonly file: string;
  /** True if the set defines it already. */
  readonly known: boolean;
  /** The roles that gain it. */
  readonly parentRoles: readonly string[];
  /** The condition, in normal form. */
  readonly condition: string;
  /** The number of rules that would no longer need the condition, but for one. */
  readonly saves: number;
  /** The rules. */
  readonly rules: readonly RulePlace[];
  /** Edits that are proved to change no decision; empty if they were refused. */
  readonly edits: readonly RuleEdit[];
  /** The reason why there are no edits, in a few words; `null` if there are. */
  readonly refused: string | null;
}

/** A kind of findings about rules. Newer versions may add kinds. */
export type RuleFindingKind = "same-in-parent-scope" | "shadowed-across" | "never-decides" | "contradiction";

/** A rule that is proved to decide nothing, or that contradicts another. */
export interface RuleFinding {
  readonly kind: RuleFindingKind;
  /** 1 if the rule can go, or 0. */
  readonly saves: number;
  /** The rule, and then the rule that says the same or the contrary, if it is about one. */
  readonly rules: readonly RulePlace[];
}

/** A suggestion about the rules of policies. Newer versions may add kinds. */
export type Suggestion = RuleMerge | RuleDerivation | RuleFinding | RuleGroup;

/** An edit of a file. */
export interface RuleEdit {
  /** The path of the file; one that is not there is new. */
  readonly file: string;
  /** The start of what is replaced, in bytes of the text as UTF-8 without a byte order mark. */
  readonly start: number;
  /** Its end. */
  readonly end: number;
  /** The text in its place. */
  readonly text: string;
}

/** What a change changes: who may do more, and who may do less. */
export interface Comparison {
  /** The differences, each with a request that was decided with both; new access first. */
  readonly differences: readonly AccessDifference[];
  /** What could be neither proved equal nor shown to differ. */
  readonly unknown: readonly UnknownAccess[];
  /** What was compared. */
  readonly counts: {
    /** Kinds, versions and scopes of either side, and principals with policies of their own. */
    readonly targets: number;
    /** Targets whose rules are the same. */
    readonly sameTargets: number;
    /** Questions about the other targets: an action for a class of roles. */
    readonly questions: number;
    /** Questions for which the same rules count. */
    readonly sameRules: number;
    /** Questions that are equal for all values. */
    readonly proved: number;
  };
}

/** What a difference or an unknown is about. */
export interface AccessPlace {
  /** The kind of the resource; absent for kinds that no policy names. */
  readonly kind?: string;
  /** The version of the policies. */
  readonly version: string;
  /** The scopes. */
  readonly scopes: readonly string[];
  /** The principal, if it is about the policies of one. */
  readonly principal?: string;
  /** The roles; `null` stands for roles that no rule names. Empty for every role. */
  readonly roles: readonly (string | null)[];
  /** The actions; `null` stands for actions that no rule names. */
  readonly actions: readonly (string | null)[];
}

/** A difference of access. */
export interface AccessDifference extends AccessPlace {
  /** `more` if something that was denied is allowed. */
  readonly change: "more" | "less";
  /** The decision before the change. */
  readonly old: ComparedDecision;
  /** The decision after it. */
  readonly new: ComparedDecision;
  /** A request that shows it, as `check` takes it. */
  readonly request: object;
}

/** One decision of a comparison. */
export interface ComparedDecision {
  /** True if the action is allowed. */
  readonly allowed: boolean;
  /** The reason in a few words. */
  readonly reason: string;
  /** The rule that decided, as `POLICY#RULE`. */
  readonly rule?: string;
  /** The file of the rule. */
  readonly file?: string;
  /** Its line, counted from 1. */
  readonly line?: number;
}

/** Access of which nothing is claimed. */
export interface UnknownAccess extends AccessPlace {
  /** The reason in a few words. */
  readonly why: string;
  /** The change that may be, if only one is open. */
  readonly may?: "more" | "less";
}

/** A policy that is like another. */
export interface SimilarPolicy {
  /** Its key. */
  readonly policy: string;
  /** The path of its file. */
  readonly file: string;
  /** The likeness, from 0 to 1: the mean over the rules of both, each with the rule of the other that is most like it. */
  readonly score: number;
  /** The number of its rules. */
  readonly rules: number;
  /** The number of its rules that say the same as a rule of the other. */
  readonly equal: number;
}

/** The answer of `similar`. */
export interface Similar {
  /** The policies that are most like that of the question, none for one rule; absent if a diagnostic is an error. */
  readonly policies?: readonly SimilarPolicy[];
  /** The rules of the question, each with the rules that are most like it; absent if a diagnostic is an error. */
  readonly rules?: readonly SimilarRules[];
  /** The errors in the policies or in the draft. */
  readonly diagnostics: readonly Diagnostic[];
}

/** An index of the rules of policies. It needs no disposal: its memory ends with it. */
export interface PolicyIndex {
  /**
   * Replaces the contents of a file, or takes a new one, and returns the errors of the file and of those that import from it. With an
   * error the index stays as it was. A file without a policy, such as an empty one, takes its policies away.
   *
   * What is wrong among files, such as a policy that two of them define, is found by `lint` of `wardgate/compiler` and not here.
   *
   * @throws TypeError if the path or the contents have the wrong kind.
   * @throws WardgateError with the code `internal` if the module fails; the next call works in a fresh instance, with the
   * files as they were.
   */
  replace(path: string, contents: FileContents): readonly Diagnostic[];
  /**
   * Returns the rules that are most like those of a policy or a draft, at most `top` for each, from 1 to 1000. Default: 10.
   *
   * @throws TypeError if an argument has the wrong kind.
   * @throws RangeError if there is no such policy or rule, the draft holds no policy, or `top` is out of range.
   * @throws WardgateError as for {@link PolicyIndex.replace}.
   */
  similar(query: SimilarQuery, top?: number): Similar;
  /**
   * Returns groups of rules that could be one, those first that save most; only those of some kinds, if kinds are given.
   *
   * @throws TypeError or RangeError for other kinds.
   * @throws WardgateError as for {@link PolicyIndex.replace}.
   */
  groups(only?: readonly RuleGroupKind[]): readonly RuleGroup[];
}
