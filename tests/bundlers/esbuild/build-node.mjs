// A program for Node, bundled into one file of either form and run away from everything else.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

import { build as bundle } from "esbuild";

/** Returns the output of the program, the same in both forms. */
export async function build(out, fixtures) {
  const [required, imported] = await Promise.all([["cjs", "cjs"], ["esm", "mjs"]].map(([format, ending]) => program(out, format, ending)));
  const [one, other] = [required, imported].map((file) => execFileSync(process.execPath, [file], { cwd: fixtures, encoding: "utf8" }));
  if (one !== other) throw new Error(`esbuild for Node: ${one} with require, ${other} with import`);
  return one;
}

async function program(out, format, ending) {
  const absWorkingDir = fileURLToPath(new URL(".", import.meta.url));
  const outfile = `${out}/server.${ending}`;
  // `import.meta` means nothing in the old form. Only a search for the module on a disk needs it.
  const logOverride = { "empty-import-meta": "silent" };
  const common = { absWorkingDir, entryPoints: ["server.js"], bundle: true, platform: "node", target: "node20", logOverride };
  await bundle({ ...common, format, outfile, loader: { ".wasm": "binary" } });
  return outfile;
}
