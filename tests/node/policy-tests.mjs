// Compares the results of policy tests natively, through the package in Node, and in the compiler of the package.
//
// The arguments are the command and folders of policies with suites. Prints a line for each folder.

import { deepStrictEqual } from "node:assert";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { test } from "../../npm/dist/node/compiler.js";

const [command, ...folders] = process.argv.slice(2);
const npm = fileURLToPath(new URL("../../npm", import.meta.url));

for (const folder of folders) {
  const native = run(folder);
  deepStrictEqual(run(folder, "--host", "node", "--package", npm), native, `${folder}: the package differs`);
  const { results, junit, diagnostics } = await test(filesOf(folder), { emitJunit: true });
  deepStrictEqual(diagnostics, [], `${folder}: the policies do not compile`);
  deepStrictEqual(results, native, `${folder}: the compiler of the package differs`);
  if (!junit.startsWith("<testsuites ")) throw new Error(`${folder}: no XML`);
  const { testsCount = 0, overallResult } = native.summary;
  console.log(`policy-tests: ${folder}: ${testsCount} tests, ${overallResult}, the same three times`);
}

function run(folder, ...more) {
  const { stdout, stderr } = spawnSync(command, ["test", folder, "--json", ...more], { encoding: "utf8", maxBuffer: 2 ** 28 });
  try {
    return JSON.parse(stdout);
  } catch {
    throw new Error(`${folder}: ${stderr || stdout}`);
  }
}

function filesOf(folder) {
  const files = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath ?? entry.path, entry.name);
    if (entry.isFile()) files.set(relative(folder, path).split(sep).join("/"), readFileSync(path));
  }
  return files;
}
