// The entry `wardgate/compiler`: from policies to a bundle, for playgrounds, editors and build tools.
//
// It is the compiler of the command as a second module. The same files and options give the same bytes and
// the same diagnostics; nothing of it is loaded by those who only decide.

import { run } from "./compiler-module.ts";
import {
  readCompileOptions,
  readLintOptions,
  type CompileOptions,
  type LintOptions,
} from "./compiler-options.ts";
import { membersOf } from "./describe.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { readFiles, type PolicyFiles } from "./policy-files.ts";
import { disregard } from "./web.ts";

export type { CompileOptions, LintOptions, TableOptions } from "./compiler-options.ts";
export type { Diagnostic, DiagnosticCode, Place } from "./diagnostic.ts";
export { WardgateError, type Code } from "./errors.ts";
export type { PolicyFiles } from "./policy-files.ts";

/** What became of the files. */
export interface Compiled {
  /** The bundle, which nobody has signed; absent if a diagnostic is an error. */
  readonly bundle?: Uint8Array;
  /** The text of the module to give to `open` as `accessors`, if `emitAccessors` was given. */
  readonly accessors?: string;
  /** Everything that is wrong, in the order of the files and their lines. */
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
 * Returns what {@link compile} would find wrong with policies.
 *
 * @throws as {@link compile} does.
 */
export async function lint(files: PolicyFiles, options: LintOptions = {}): Promise<readonly Diagnostic[]> {
  disregard(membersOf(options)?.get("code"));
  const settings = readLintOptions(options);
  return (await run(readFiles(files), settings)).diagnostics;
}
