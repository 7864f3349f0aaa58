// Compiles policies to a bundle, for playgrounds, editors and build tools: the entry
// `wardgate/compiler`.
//
// It is the compiler of the command as a second module. The same files and options give the same
// bytes and diagnostics. Programs that only decide do not load it.

import { run, runFormat, runTests } from "./compiler-module.ts";
import {
  readCompileOptions,
  readFormatOptions,
  readLintOptions,
  readTestOptions,
  readTypesOptions,
  type CompileOptions,
  type FormatOptions,
  type LintOptions,
  type TestOptions,
} from "./compiler-options.ts";
import { membersOf } from "../base/describe.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { readFile, readFiles, type FileContents, type PolicyFiles } from "./policy-files.ts";
import type { TestResults } from "./suite-results.ts";
import { ignoreRejection } from "../base/web.ts";

export type { CompileOptions, FormatOptions, LintOptions, TableOptions, TestOptions } from "./compiler-options.ts";
export type { Diagnostic, DiagnosticCode, LintCode, Position } from "./diagnostic.ts";
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

/** The result of `compile`. */
export interface Compiled {
  /** The bundle, without signatures; absent if a diagnostic is an error. */
  readonly bundle?: Uint8Array;
  /** The text of the module for the option `accessors` of `open`, if `emitAccessors` is set. */
  readonly accessors?: string;
  /** All errors and warnings, in the order of the files and their lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of `format`. */
export interface Formatted {
  /** The formatted text; absent if the file cannot be read. */
  readonly text?: string;
  /**
   * The formatted part: the whole file, all but its expressions, or nothing, because it is JSON or
   * because no layout is sure to keep its meaning.
   */
  readonly outcome?: "whole" | "without-expressions" | "json" | "kept";
  /** The errors for which the file cannot be read. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of `types`. */
export interface TypesOfPolicies {
  /** The text of the declarations, with the digest of the policies; absent if a diagnostic is an error. */
  readonly types?: string;
  /** All errors and warnings, in the order of the files and their lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/** The result of `test`. */
export interface Tested {
  /** The results, as `wardgate test --json` prints them; absent if the policies do not compile. */
  readonly results?: TestResults;
  /** The results as JUnit XML, if `emitJunit` is set. */
  readonly junit?: string;
  /** The errors in the policies. Errors in a suite are in its result. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles policies to a bundle.
 *
 * Errors in the policies become diagnostics; they are never thrown.
 *
 * @throws TypeError if the files or an option have the wrong kind, or an option is unknown.
 * @throws RangeError if the value of an option is out of range.
 * @throws WardgateError if the module cannot be loaded, or with the code `internal` if it fails,
 * for example for lack of memory. The next call works in a fresh instance.
 *
 * @example
 *     const { bundle, diagnostics } = await compile({ "album.yaml": text }, { name: "album", revision: 7 });
 *     for (const { text } of diagnostics) console.error(text);
 */
export async function compile(files: PolicyFiles, options: CompileOptions = {}): Promise<Compiled> {
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readCompileOptions(options);
  return run(readFiles(files), settings);
}

/**
 * Returns the errors that {@link compile} finds in policies. Without errors it returns warnings, as
 * `wardgate lint` does: rules without effect, conditions that are always true, and so on.
 * `docs/lints.md` explains each {@link LintCode}, and how a comment in a policy silences it.
 *
 * @throws as {@link compile} does.
 *
 * @example
 *     const warnings = await lint({ "album.yaml": text });
 */
export async function lint(files: PolicyFiles, options: LintOptions = {}): Promise<readonly Diagnostic[]> {
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readLintOptions(options);
  return (await run(readFiles(files), settings)).diagnostics;
}

/**
 * Returns the types of policies as `wardgate types` writes them: `interface Policies` for
 * `open<Policies>`. The options must be those of the bundle, whose digest the text names.
 *
 * @throws as {@link compile} does.
 *
 * @example
 *     const { types: text } = await types({ "album.yaml": policy });
 *     if (text !== undefined) await writeFile("src/policies.d.ts", text);
 */
export async function types(files: PolicyFiles, options: LintOptions = {}): Promise<TypesOfPolicies> {
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readTypesOptions(options);
  const { types, diagnostics } = await run(readFiles(files), settings);
  return { ...(types !== undefined && { types }), diagnostics };
}

/**
 * Formats a policy, a test suite or fixtures, as `wardgate fmt` does. Values, comments and the
 * order of keys stay.
 *
 * @throws as {@link compile} does.
 *
 * @example
 *     const { text = old } = await format(old, { path: "album.yaml" });
 */
export async function format(contents: FileContents, options: FormatOptions = {}): Promise<Formatted> {
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readFormatOptions(options);
  return runFormat(readFile(settings.path, contents), settings);
}

/**
 * Runs the test suites among the files: `*_test.yaml`, and their fixtures in `testdata`, as
 * `wardgate test` does.
 *
 * Default for a test: a condition with an error is false, and attributes that violate their schema
 * are rejected, as in suites of Cerbos.
 *
 * @throws as {@link compile} does.
 *
 * @example
 *     const { results } = await test({ "album.yaml": policy, "album_test.yaml": suite });
 *     console.log(results?.summary.overallResult); // RESULT_PASSED
 */
export async function test(files: PolicyFiles, options: TestOptions = {}): Promise<Tested> {
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readTestOptions(options);
  const { results, ...rest } = await runTests(readFiles(files), settings);
  return results === undefined ? rest : { results: JSON.parse(results) as TestResults, ...rest };
}
