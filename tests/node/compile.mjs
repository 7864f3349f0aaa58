// Compiles with the npm package the sources that a native test sends on standard input, one set of files a line:
//   { "files": [[path, base64], ...], "options": {...} }
// and answers one line each: the results of `compile`, with the bundle as base64, and of `lint`, or { "error": text }.

import { createInterface } from "node:readline";
import { compile, lint } from "../../npm/dist/node/compiler.js";

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await compiled(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function compiled({ files, options }) {
  const contents = new Map(files.map(([path, text]) => [path, Buffer.from(text, "base64")]));
  const { bundle, ...rest } = await compile(contents, options);
  const { evaluation, schemaEnforcement, lenientScopeSearch, defaultVersion, globals } = options;
  const found = await lint(contents, { evaluation, schemaEnforcement, lenientScopeSearch, defaultVersion, globals });
  const answer = { ...rest, lint: found };
  return bundle === undefined ? answer : { bundle: Buffer.from(bundle).toString("base64"), ...answer };
}
