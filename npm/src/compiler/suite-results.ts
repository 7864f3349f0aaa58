// What becomes of policy tests, in the form of the `TestResults` of Cerbos and of `wardgate test --json`. A list that
// would be empty may be left out.

import type { Json } from "../pdp/decision.ts";
import type { DiagnosticCode } from "./diagnostic.ts";

/** How something ended, from the best to the worst. */
export type TestResult = "RESULT_SKIPPED" | "RESULT_PASSED" | "RESULT_FAILED" | "RESULT_ERRORED";

/** What an action should be, and what it is. */
export type TestEffect = "EFFECT_ALLOW" | "EFFECT_DENY";

/** The sums of a suite or of all of them. */
export interface TestSummary {
  /** The worst of all; absent where there are no tests at all. */
  readonly overallResult?: TestResult;
  readonly testsCount?: number;
  readonly resultCounts?: readonly { readonly result: TestResult; readonly count: number }[];
}

/** What became of all suites, in the order of their paths. */
export interface TestResults {
  readonly suites: readonly TestSuiteResult[];
  readonly summary: TestSummary;
}

/** What became of one suite. */
export interface TestSuiteResult {
  readonly file: string;
  /** Its name; `Unknown` where it could not be read. */
  readonly name: string;
  readonly description?: string;
  readonly summary: TestSummary;
  /** Why it is left out. */
  readonly skipReason?: string;
  /** What keeps it from being run, as text. */
  readonly error?: string;
  /** The same, one by one. */
  readonly diagnostics?: readonly TestDiagnostic[];
  readonly testCases?: readonly TestCaseResult[];
}

/** Something that keeps a suite from being run. */
export interface TestDiagnostic {
  readonly code: TestDiagnosticCode;
  readonly message: string;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly path?: string;
  /** All of it as text, with the line of the file and a caret below it. */
  readonly text: string;
}

/** What kind of thing it is. */
export type TestDiagnosticCode =
  | DiagnosticCode
  | "contradictory-expectation"
  | "unknown-fixture"
  | "unreachable-expectation";

/** What became of one table of tests. */
export interface TestCaseResult {
  readonly name: string;
  readonly principals: readonly {
    readonly name: string;
    readonly resources: readonly { readonly name: string; readonly actions: readonly TestActionResult[] }[];
  }[];
}

/** What became of one action of one test. */
export interface TestActionResult {
  readonly name: string;
  /** Where the suite says what is expected, if that is not what there is. */
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
  /** The options of the command without which it does not pass, such as `--evaluation lenient`, if it depends on them. */
  readonly passesOnlyWith?: string;
}

/** An output of a rule. */
export interface TestOutput {
  readonly src: string;
  readonly action: string;
  readonly val?: Json;
  readonly error?: string;
}

/** An output that is not as expected. */
export interface TestOutputFailure {
  readonly src: string;
  readonly mismatched?: { readonly expected?: Json; readonly actual: Json };
  readonly missing?: { readonly expected?: Json };
  readonly errored?: { readonly expected?: Json; readonly error: string };
}
