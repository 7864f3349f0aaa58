// The program of docs/runtimes/analysis.md, run unchanged with the built package.

import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { node } from "../testing.ts";

const page = readFileSync(new URL("../../../docs/runtimes/analysis.md", import.meta.url), "utf8");
const program = /```js\n([^]+?)```/.exec(page)![1]!;

it.each(["import", "require"])("prints what it promises, with %s", (way) => {
  const promised = [...program.matchAll(/console\.log\(.*\); \/\/ (.+)/g)].map(([, line]) => line);
  expect(promised).toHaveLength(3);
  // The package resolves its own name through its exports.
  const form = way === "import" ? ["--input-type=module", "--eval", program] : ["--input-type=commonjs", "--eval", asCommonJs(program)];
  expect(node(["--no-warnings", ...form]).trim().split("\n")).toEqual(promised);
});

/** Returns the same program for `require`. */
function asCommonJs(program: string): string {
  const body = program.replaceAll(/^import (.+) from (.+);$/gm, "const $1 = require($2);");
  return `(async () => {\n${body}})();`;
}
