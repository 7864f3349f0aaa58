import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

// A module of accessors imports the package, which for the tests is its source.
const accessors = source("accessors");

export default defineConfig({
  resolve: { alias: { "wardgate/accessors": accessors, "#load": source("load-node"), "#spawn": source("spawn-node") } },
  test: { include: ["src/*.test.ts"] },
});

function source(name: string): string {
  return fileURLToPath(new URL(`src/${name}.ts`, import.meta.url));
}
