import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

// Modules of accessors and examples import the package, which for the tests is its source.
const names = ["accessors", "express", "hono", "pool", "react", "spocp"];
const alias = [
  ...names.map((name) => ({ find: `wardgate/${name}`, replacement: source(name) })),
  { find: /^wardgate$/, replacement: source("index") },
  { find: "#load", replacement: source("load-node") },
  { find: "#load-spocp", replacement: source("load-spocp-node") },
  { find: "#load-compiler", replacement: source("load-compiler-node") },
];

export default defineConfig({ resolve: { alias }, test: { include: ["src/*.test.ts"] } });

function source(name: string): string {
  return fileURLToPath(new URL(`src/${name}.ts`, import.meta.url));
}
