// Writes the types of a folder of policies: the option `types`.

import { readFile, writeFile } from "node:fs/promises";

import type { CompileOptions } from "../compiler/compiler-options.ts";

/** Writes `policies.d.ts` beside the folder `policies`, unless it is up to date: a written file starts the checker again. */
export async function writeTypes(folder: string, files: ReadonlyMap<string, Uint8Array>, options: CompileOptions): Promise<void> {
  const path = `${folder}.d.ts`;
  const text = await typesText(files, options);
  if ((await readFile(path, "utf8").catch(() => "")) !== text) await writeFile(path, text);
}

/** Returns the declaration of the import. The types of the policies themselves come from `wardgate/compiler`. */
async function typesText(_files: ReadonlyMap<string, Uint8Array>, _options: CompileOptions): Promise<string> {
  return `${HEAD}import type { ImportedPolicies } from "wardgate/policies";\n\ndeclare const policies: ImportedPolicies;\nexport default policies;\n`;
}

const HEAD = "// Written by the plug-in of Wardgate for bundlers, anew after each change of a policy.\n\n";
