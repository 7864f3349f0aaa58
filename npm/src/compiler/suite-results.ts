// The results of policy tests, in the form of `TestResults` of Cerbos and of `wardgate test
// --json`. An empty list may be absent.

import type { Json } from "../pdp/decision.ts";
import type { DiagnosticCode } from "./diagnostic.ts";

/** A result, from the best to the worst. */
export type TestResult = "RESULT_SKIPPED" | "RESULT_PASSED" | "RESULT_FAILED" | "RESULT_ERRORED";

/** The expected or actual effect of an action. */
export type TestEffect = "EFFECT_ALLOW" | "EFFECT_DENY";

/** The totals of one suite or of all suites. */
export interface TestSummary {
  /** The worst result; absent if there are no tests. */
  readonly overallResult?: TestResult;
  /** The number of tests. */
  readonly testsCount?: number;
  /** The number of tests with each result. */
  readonly resultCounts?: readonly { readonly result: TestResult; readonly count: number }[];
}

/** The results of all suites, in the order of their paths. */
export interface TestResults {
  /** The results of each suite. */
  readonly suites: readonly TestSuiteResult[];
  /** The totals of all suites. */
  readonly summary: TestSummary;
}

/** The results of one suite. */
export interface TestSuiteResult {
  /** The path of the suite. */
  readonly file: string;
  /** The name of the suite; `Unknown` if it cannot be read. */
  readonly name: string;
  /** The description of the suite. */
  readonly description?: string;
  /** The totals of the suite. */
  readonly summary: TestSummary;
  /** The reason for which the suite is skipped. */
  readonly skipReason?: string;
  /** The error that prevents the suite from running, as text. */
  readonly error?: string;
  /** The same error, as single diagnostics. */
  readonly diagnostics?: readonly TestDiagnostic[];
  /** The results of its tables of tests. */
  readonly testCases?: readonly TestCaseResult[];
}

/** An error that prevents a suite from running. */
export interface TestDiagnostic {
  readonly code: TestDiagnosticCode;
  readonly message: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
  /** The whole diagnostic as text, with the line of the file and a caret below it. */
  readonly text: string;
}

/** The kind of a {@link TestDiagnostic}. */
export type TestDiagnosticCode =
  | DiagnosticCode
  | "contradictory-expectation"
  | "unknown-fixture"
  | "unreachable-expectation";

/** The results of one table of tests. */
export interface TestCaseResult {
  readonly name: string;
  readonly principals: readonly {
    readonly name: string;
    readonly resources: readonly { readonly name: string; readonly actions: readonly TestActionResult[] }[];
  }[];
}

/** The result of one action of one test. */
export interface TestActionResult {
  readonly name: string;
  /** The position of the expectation in the suite, if the result differs from it. */
  readonly line?: number;
  readonly column?: number;
  readonly details: {
    readonly result: TestResult;
    readonly skipReason?: string;
    readonly error?: string;
    readonly success?: { readonly effect: TestEffect; readonly outputs?: readonly TestOutput[] };
    readonly failure?: {
      readonly expected: TestEffect;
      readonly actual: TestEffect;
      /** The policy that decided. */
      readonly policy: string;
      readonly outputs?: readonly TestOutputFailure[];
    };
  };
  /**
   * The options of the command that the test needs to pass, such as `--evaluation lenient`, if it
   * depends on them.
   */
  readonly passesOnlyWith?: string;
}

/** An output of a rule. */
export interface TestOutput {
  readonly src: string;
  readonly action: string;
  readonly val?: Json;
  readonly error?: string;
}

/** An output that differs from the expectation. */
export interface TestOutputFailure {
  readonly src: string;
  readonly mismatched?: { readonly expected?: Json; readonly actual: Json };
  readonly missing?: { readonly expected?: Json };
  readonly errored?: { readonly expected?: Json; readonly error: string };
}
