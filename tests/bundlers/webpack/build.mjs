// Nothing is configured but the advice about large files: webpack finds the module by itself.

import { copyFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import webpack from "webpack";

export async function build(out) {
  const context = fileURLToPath(new URL(".", import.meta.url));
  const output = { path: out };
  const performance = { hints: false };
  const result = await promisify(webpack)({ context, entry: "./main.js", mode: "production", output, performance });
  if (result.hasErrors() || result.hasWarnings()) throw new Error(result.toString());
  copyFileSync(new URL("index.html", import.meta.url), `${out}/index.html`);
}
