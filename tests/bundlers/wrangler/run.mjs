// Builds the worker as `wrangler deploy` would, and runs what it would deploy in workerd.

import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// The miniflare of wrangler: it goes with no other.
const { Miniflare } = createRequire(createRequire(import.meta.url).resolve("wrangler"))("miniflare");

export async function run(out, fixtures) {
  const wrangler = fileURLToPath(new URL("../node_modules/wrangler/bin/wrangler.js", import.meta.url));
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  for (const name of ["signed.bundle", "release.pub.jwk"]) cpSync(`${fixtures}/${name}`, `${cwd}/built/${name}`);
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false" };
  const stdio = ["ignore", "ignore", "inherit"];
  execFileSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", out], { cwd, env, stdio });
  const modulesRules = KINDS.map(([type, ending]) => ({ type, include: [`**/*.${ending}`] }));
  const modules = { modules: true, modulesRoot: out, modulesRules, scriptPath: `${out}/worker.js` };
  const worker = new Miniflare({ ...modules, compatibilityDate: "2026-04-01", cf: false });
  try {
    return await (await worker.dispatchFetch("http://worker/")).text();
  } finally {
    await worker.dispose();
  }
}

/** What the files beside the program are, as `wrangler.jsonc` has it. */
const KINDS = [
  ["CompiledWasm", "wasm"],
  ["Data", "bundle"],
  ["Text", "jwk"],
];
