// The diagnostics of the compiler.

/**
 * The kind of a diagnostic. The meaning of a code is stable; the text of a message is not. Newer
 * versions may add codes.
 */
export type DiagnosticCode =
  | "ambiguous-derived-role"
  | "constant-redefined"
  | "cyclical-variables"
  | "duplicate-name"
  | "duplicate-policy"
  | "empty-output"
  | "invalid-constant-name"
  | "invalid-expression"
  | "invalid-schema"
  | "invalid-variable-name"
  | "limit"
  | "missing-ancestor"
  | "missing-import"
  | "no-policies"
  | "parse"
  | "scope-permissions-conflict"
  | "script-unsupported"
  | "several-policies"
  | "syntax"
  | "topic-as-text"
  | "undefined-constant"
  | "undefined-variable"
  | "unknown-derived-role"
  | "unreadable"
  | "validation"
  | "variable-redefined";

/** The kind of a warning of `lint`; `docs/lints.md` has a section for each. */
export type LintCode =
  | "allow-can-only-deny"
  | "allow-without-effect"
  | "built-topic-filter"
  | "condition-always-false"
  | "condition-always-true"
  | "dollar-uncovered"
  | "duplicate-rule"
  | "evadable-limit"
  | "hot-key"
  | "lenient-deny"
  | "missing-schema"
  | "role-never-allowed"
  | "schema-mismatch"
  | "shadowed-limit"
  | "shadowed-rule"
  | "strict-error"
  | "topic-never-matches"
  | "unknown-action"
  | "unknown-allow"
  | "unknown-attribute"
  | "unknown-resource"
  | "unreachable-rule"
  | "unused-allow"
  | "unused-constant"
  | "unused-derived-role"
  | "unused-export"
  | "unused-import"
  | "unused-variable";

/** A line and a column, both counted from 1. The column counts characters; an emoji is one. */
export interface Position {
  /** The line, counted from 1. */
  readonly line: number;
  /** The column in characters, counted from 1. */
  readonly column: number;
}

/** One error or warning about a policy. */
export interface Diagnostic {
  /** Its severity: an `error` prevents a bundle. Warnings come from `lint`. */
  readonly severity: "error" | "warning";
  /** The kind of the diagnostic. */
  readonly code: DiagnosticCode | LintCode;
  /** The address of the section that explains the code, such as `docs/errors.md#syntax`. */
  readonly page: string;
  /** The message, in one sentence without the position. */
  readonly message: string;
  /** The path of the file; `.` for all files together. */
  readonly file: string;
  /** The whole diagnostic as text, with the line of the file and a caret below it. */
  readonly text: string;
  /** The start of the range; absent for a whole file. */
  readonly line?: number;
  /** The column of the start, in characters, counted from 1. */
  readonly column?: number;
  /** The end of the range: the position after the word or quoted text. */
  readonly end?: Position;
  /** The path within the policy, such as `$.resourcePolicy.rules[0]`. */
  readonly path?: string;
  /** The text that the compiler found. */
  readonly found?: string;
  /** The text that it expected. */
  readonly expected?: string;
}
