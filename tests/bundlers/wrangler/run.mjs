// Builds the worker as `wrangler deploy` does, and runs the result in workerd.

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// The miniflare of wrangler: it goes with no other.
const { Miniflare } = createRequire(createRequire(import.meta.url).resolve("wrangler"))("miniflare");

/** Returns the answers of the app, with a compatibility date of today and of some years ago; the build goes to `out`. */
export async function run(out, fixtures) {
  const app = fileURLToPath(new URL(".", import.meta.url));
  for (const name of ["signed.bundle", "release.pub.jwk"]) cpSync(`${fixtures}/${name}`, `${app}/built/${name}`);
  build(app, out);
  return { wrangler: await answerOf(out, TODAY), "wrangler, dated 2023": await answerOf(out, "2023-03-01") };
}

/** Returns the answers of the worker in a folder. */
export function answerOfFolder(folder, out) {
  build(folder, out);
  return answerOf(out, TODAY);
}

function build(cwd, out) {
  const wrangler = fileURLToPath(new URL("../node_modules/wrangler/bin/wrangler.js", import.meta.url));
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
  const stdio = ["ignore", "ignore", "inherit"];
  execFileSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", out], { cwd, env, stdio });
}

async function answerOf(out, compatibilityDate) {
  const modulesRules = Object.entries(KINDS).map(([type, include]) => ({ type, include }));
  const modules = { modules: true, modulesRoot: out, modulesRules, scriptPath: `${out}/worker.js` };
  const worker = new Miniflare({ ...modules, compatibilityDate, cf: false });
  try {
    return await (await worker.dispatchFetch("http://worker/")).text();
  } finally {
    await worker.dispose();
  }
}

/** The types of the files beside a program, as in `wrangler.jsonc`. */
const KINDS = {
  CompiledWasm: ["**/*.wasm"],
  Data: ["**/*.bundle", "**/*.wardgate"],
  Text: ["**/*.jwk"],
};

const TODAY = "2026-04-01";
