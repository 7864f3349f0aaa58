// esbuild does not look for files behind `new URL(...)`: the app imports the module, and hands it in.
// The program of workers is bundled apart.

import { copyFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build as bundle } from "esbuild";

export async function build(out) {
  const absWorkingDir = fileURLToPath(new URL(".", import.meta.url));
  const result = await bundle({
    absWorkingDir,
    entryPoints: { main: "main.js", "pool-worker": "wardgate/pool-worker" },
    bundle: true,
    minify: true,
    format: "esm",
    loader: { ".wasm": "file" },
    outdir: out,
    logLevel: "silent",
  });
  if (result.warnings.length > 0) throw new Error(JSON.stringify(result.warnings));
  copyFileSync(new URL("index.html", import.meta.url), `${out}/index.html`);
}
