// node run.mjs FIXTURES OUT
//
// Builds the app of each bundler, runs it in its runtime, and compares its answers with those of the package
// in Node. CHROMIUM names the program of the browser.

import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { open } from "wardgate";
import { createPool } from "wardgate/pool";

import { answers, now } from "./answers.mjs";
import { STRICT, titleOf } from "./browser.mjs";

const [fixtures, out] = process.argv.slice(2);
const FILES = ["signed.bundle", "release.pub.jwk"];

const [bundle, jwk] = await Promise.all(FILES.map((name) => readFile(`${fixtures}/${name}`)));
const options = { trust: JSON.parse(jwk), now };
const expected = await answers(
  () => open(bundle, options),
  () => createPool(bundle, { ...options, size: 2 }),
);

for (const name of ["vite", "webpack", "esbuild"]) await inBrowser(name);
const { run } = await import("./wrangler/run.mjs");
for (const [name, answer] of Object.entries(await run(prepared("wrangler"), fixtures))) hold(name, answer);
const { build: buildProgram } = await import("./esbuild/build-node.mjs");
hold("esbuild for Node", await buildProgram(prepared("esbuild-node"), fixtures));

/** Runs an app under a strict policy for content, and once under one that forbids WebAssembly. */
async function inBrowser(name) {
  const folder = prepared(name);
  const { build } = await import(`./${name}/build.mjs`);
  await build(folder);
  for (const file of FILES) copyFileSync(`${fixtures}/${file}`, `${folder}/${file}`);
  hold(name, await titleOf(folder, STRICT));
  const forbidden = await titleOf(folder, STRICT.replace(" 'wasm-unsafe-eval'", ""));
  if (!/^(not-loaded|wrong-code): .*Content Security/.test(forbidden)) {
    throw new Error(`${name}: expected the policy for content to forbid the module, found ${forbidden}`);
  }
}

/** Makes an empty folder. */
function prepared(name) {
  const folder = `${out}/${name}`;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}

function hold(name, answer) {
  if (answer !== expected) throw new Error(`${name}: expected ${expected}, found ${answer}`);
  console.log(`    ${name}: the app says what the package says in Node`);
}
