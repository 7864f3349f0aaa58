// Writes `cjs`, the package for `require` in a Node that cannot require ES modules: each file of
// `dist` and the glue, translated one by one. `cargo xtask` runs this program after the TypeScript
// compiler.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

import typescript from "typescript";

const { ModuleKind, ScriptTarget, transpileModule } = typescript;
const compilerOptions = { module: ModuleKind.CommonJS, target: ScriptTarget.ES2022 };
const folder = new URL("cjs/", import.meta.url);

// A copy of the package must contain its licence.
cpSync(new URL("../LICENSE", import.meta.url), new URL("LICENSE", import.meta.url));
rmSync(folder, { recursive: true, force: true });
const glue = ["wardgate", "wardgate_compiler"].flatMap((name) => [`wasm/${name}_bg.js`, `wasm/${name}_bg.d.ts`]);
const programs = readdirSync(new URL("dist/", import.meta.url), { recursive: true }).filter((name) => /\.[jt]s$/.test(name));
for (const name of programs) translate(`dist/${name}`);
for (const name of glue) translate(name);
// The nearest `package.json` decides the form of a file, and the meaning of `#load` and the other
// names.
const imports = {
  "#load": "./dist/runtimes/require/load.js",
  "#load-compiler": "./dist/runtimes/require/load-compiler.js",
  "#load-spocp": "./dist/runtimes/require/load-spocp.js",
  "#port": "./dist/runtimes/threads/port-node.js",
  "#spawn": "./dist/runtimes/threads/spawn-require.js",
};
const scope = { type: "commonjs", imports };
writeFileSync(new URL("package.json", folder), `${JSON.stringify(scope, null, 2)}\n`);

function translate(file) {
  const from = new URL(file, import.meta.url);
  const to = new URL(file, folder);
  mkdirSync(new URL(".", to), { recursive: true });
  if (file.endsWith(".d.ts")) return cpSync(from, to);
  // These files are for runtimes without `require`.
  if (/\/runtimes\/(browser|edge-light|workerd|node\/load|threads\/(port-web|spawn-(?!require)))/.test(file)) return;
  writeFileSync(to, transpileModule(readFileSync(from, "utf8"), { compilerOptions, fileName: file }).outputText);
}
