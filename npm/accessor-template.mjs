// Writes `crates/tooling/src/accessors/template.js`: the hot function of `isAllowed` without types,
// for accessor modules. `cargo xtask generate` runs this program, and a test in `src/fast` fails if
// the file is out of date.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const SOURCE = new URL("src/fast/generated/encode-request.ts", import.meta.url);
export const TEMPLATE = new URL("../crates/tooling/src/accessors/template.js", import.meta.url);

/**
 * Returns the template: the function without its imports, with a placeholder for the reads at
 * sites.
 */
export function accessorTemplate() {
  const { outputText } = ts.transpileModule(readFileSync(SOURCE, "utf8"), {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, removeComments: true },
  });
  const body = outputText
    .replaceAll(/^import [^;]+;\n/gm, "")
    .replace("switch (step & SITE) {", "switch (steps[at + 1] >>> ACCESSOR) {")
    .replaceAll(/^ +case \d+:\n +if \(n\d+ in OBJECT\)\n +return UNSURE;\n +v = o\[n\d+\];\n +break;\n/gm, "")
    .replace("            case BY_NAME:", "READS            case BY_NAME:")
    .replace("const { APART,", "const { ACCESSOR, APART,")
    .replace(" SITE,", "");
  return HEAD + body;
}

const HEAD = `// Written by \`wardgate compile --emit\`, together with the bundle below. Do not edit.
import * as entry from "wardgate/accessors";

export const format = 5;
export const bundle = BUNDLE;
export const names = NAMES;

`;

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(TEMPLATE, accessorTemplate());
