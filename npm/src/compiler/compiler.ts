// The entry `wardgate/compiler`: from policies to a bundle, for playgrounds, editors and build tools.
//
// It is the compiler of the command as a second module. The same files and options give the same bytes and
// the same diagnostics; nothing of it is loaded by those who only decide.

import { run, runFormat, runTests } from "./compiler-module.ts";
import {
  readCompileOptions,
  readFormatOptions,
  readLintOptions,
  readTestOptions,
  type CompileOptions,
  type FormatOptions,
  type LintOptions,
  type TestOptions,
} from "./compiler-options.ts";
import { membersOf } from "../base/describe.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { readFile, readFiles, type FileContents, type PolicyFiles } from "./policy-files.ts";
import type { TestResults } from "./suite-results.ts";
import { disregard } from "../base/web.ts";

export type { CompileOptions, FormatOptions, LintOptions, TableOptions, TestOptions } from "./compiler-options.ts";
export type { Diagnostic, DiagnosticCode, LintCode, Place } from "./diagnostic.ts";
export { WardgateError, type Code } from "../base/errors.ts";
export type { FileContents, PolicyFiles } from "./policy-files.ts";
export type {
  TestActionResult,
  TestCaseResult,
  TestDiagnostic,
  TestDiagnosticCode,
  TestEffect,
  TestOutput,
  TestOutputFailure,
  TestResult,
  TestResults,
  TestSuiteResult,
  TestSummary,
} from "./suite-results.ts";

/** What became of the files. */
export interface Compiled {
  /** The bundle, which nobody has signed; absent if a diagnostic is an error. */
  readonly bundle?: Uint8Array;
  /** The text of the module to give to `open` as `accessors`, if `emitAccessors` was given. */
  readonly accessors?: string;
  /** Everything that is wrong, in the order of the files and their lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What became of a file. */
export interface Formatted {
  /** The text as it should be; absent if the file cannot be read. */
  readonly text?: string;
  /**
   * How much was laid out: the whole file, all but its expressions, or nothing, because it is JSON or because no layout
   * of it is sure to keep its meaning.
   */
  readonly outcome?: "whole" | "without-expressions" | "json" | "kept";
  /** Why the file cannot be read. */
  readonly diagnostics: readonly Diagnostic[];
}

/** What became of the tests. */
export interface Tested {
  /** The results, as `wardgate test --json` prints them; absent if the policies do not compile. */
  readonly results?: TestResults;
  /** The results as JUnit XML, if `emitJunit` was given. */
  readonly junit?: string;
  /** What is wrong with the policies. What is wrong with a suite is told by its result. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles policies to a bundle.
 *
 * What is wrong with the policies is told by the diagnostics and never thrown.
 *
 * @throws TypeError for files or an option of the wrong kind, or an option that is not known.
 * @throws RangeError for an option of the right kind with a value that is not possible.
 * @throws WardgateError when the module cannot be had, or with the code `internal` when it fails, as it does
 * when there is not enough memory. The next call works in a fresh instance.
 *
 * @example
 *     const { bundle, diagnostics } = await compile({ "album.yaml": text }, { name: "album", revision: 7 });
 *     for (const { text } of diagnostics) console.error(text);
 */
export async function compile(files: PolicyFiles, options: CompileOptions = {}): Promise<Compiled> {
  disregard(membersOf(options)?.get("code"));
  const settings = readCompileOptions(options);
  return run(readFiles(files), settings);
}

/**
 * Returns what {@link compile} would find wrong with policies. If that is nothing, it returns as warnings what their
 * author may not have meant, as `wardgate lint` does: rules that decide nothing, conditions that are always true, and so on.
 * `docs/lints.md` explains each {@link LintCode}, and how a comment in a policy silences it.
 *
 * @throws as {@link compile} does.
 */
export async function lint(files: PolicyFiles, options: LintOptions = {}): Promise<readonly Diagnostic[]> {
  disregard(membersOf(options)?.get("code"));
  const settings = readLintOptions(options);
  return (await run(readFiles(files), settings)).diagnostics;
}

/**
 * Lays out a policy, a test suite or fixtures, as `wardgate fmt` does: the same values, comments and order of keys.
 *
 * @throws as {@link compile} does.
 *
 * @example
 *     const { text = old } = await format(old, { path: "album.yaml" });
 */
export async function format(contents: FileContents, options: FormatOptions = {}): Promise<Formatted> {
  disregard(membersOf(options)?.get("code"));
  const settings = readFormatOptions(options);
  return runFormat(readFile(settings.path, contents), settings);
}

/**
 * Runs the test suites among the files, `*_test.yaml` and the fixtures beside them in `testdata`, as `wardgate test` does.
 *
 * Where a test does not say otherwise, conditions that fail do not hold and attributes that do not fit their schema are
 * rejected, as suites of Cerbos mean it.
 *
 * @throws as {@link compile} does.
 *
 * @example
 *     const { results } = await test({ "album.yaml": policy, "album_test.yaml": suite });
 *     console.log(results?.summary.overallResult); // RESULT_PASSED
 */
export async function test(files: PolicyFiles, options: TestOptions = {}): Promise<Tested> {
  disregard(membersOf(options)?.get("code"));
  const settings = readTestOptions(options);
  const { results, ...rest } = await runTests(readFiles(files), settings);
  return results === undefined ? rest : { results: JSON.parse(results) as TestResults, ...rest };
}
