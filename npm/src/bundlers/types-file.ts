// Writes the types of a folder of policies: the option `types`.

import { readFile, writeFile } from "node:fs/promises";

import { types } from "../compiler/compiler.ts";
import type { CompileOptions } from "../compiler/compiler-options.ts";
import { errorOf } from "./policy-error.ts";

/**
 * Writes `policies.d.ts` beside the folder `policies`, unless it is up to date: a written file starts the checker again.
 *
 * @throws PolicyError if the policies do not compile.
 */
export async function writeTypes(folder: string, files: ReadonlyMap<string, Uint8Array>, options: CompileOptions): Promise<void> {
  const path = `${folder}.d.ts`;
  const { code, evaluation, lenientScopeSearch, schemaEnforcement, defaultVersion, globals } = options;
  const { types: text, diagnostics } = await types(files, { code, evaluation, lenientScopeSearch, schemaEnforcement, defaultVersion, globals });
  if (text === undefined) throw errorOf(folder, diagnostics);
  const whole = text + DEFAULT_EXPORT;
  if ((await readFile(path, "utf8").catch(() => "")) !== whole) await writeFile(path, whole);
}

/** What an import of the folder gives, behind its types. */
const DEFAULT_EXPORT = `
import type { ImportedPolicies } from "wardgate/policies";

declare const policies: ImportedPolicies<Policies>;
export default policies;
`;
