// What the compiler has to say about policies.

/**
 * What kind of thing a diagnostic is. A code never changes its meaning; the wording of a message may. Newer
 * versions may have more.
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
  | "undefined-constant"
  | "undefined-variable"
  | "unknown-derived-role"
  | "unreadable"
  | "validation"
  | "variable-redefined";

/** What kind of thing a warning of `lint` is; each has a section in `docs/lints.md`. */
export type LintCode =
  | "allow-can-only-deny"
  | "allow-without-effect"
  | "condition-always-false"
  | "condition-always-true"
  | "duplicate-rule"
  | "lenient-deny"
  | "missing-schema"
  | "role-never-allowed"
  | "schema-mismatch"
  | "shadowed-rule"
  | "strict-error"
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

/** A line and a column, both from 1. The column counts characters, of which an emoji is one. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** One thing to tell the author of a policy. */
export interface Diagnostic {
  /** With an `error` there is no bundle. A `warning` comes from `lint`. */
  readonly severity: "error" | "warning";
  readonly code: DiagnosticCode | LintCode;
  /** What is wrong, in one sentence without the place. */
  readonly message: string;
  /** The path of the file; `.` for all of them together. */
  readonly file: string;
  /** All of it as text, with the line of the file and a caret below it. */
  readonly text: string;
  /** Where it begins; absent when it is about a whole file. */
  readonly line?: number;
  readonly column?: number;
  /** The place after the word or the quoted text that begins there. */
  readonly end?: Place;
  /** Where it stands in the policy, such as `$.resourcePolicy.rules[0]`. */
  readonly path?: string;
  readonly found?: string;
  readonly expected?: string;
}
