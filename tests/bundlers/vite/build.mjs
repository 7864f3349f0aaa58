// Nothing is configured: Vite finds the module by itself.

import { fileURLToPath } from "node:url";

import { build as bundle } from "vite";

export async function build(out) {
  const root = fileURLToPath(new URL(".", import.meta.url));
  await bundle({ root, base: "./", logLevel: "warn", build: { outDir: out, emptyOutDir: true } });
}
