import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

// A module of accessors imports the package, which for the tests is its source.
const accessors = fileURLToPath(new URL("src/accessors.ts", import.meta.url));

export default defineConfig({
  resolve: { alias: { "wardgate/accessors": accessors } },
  test: { include: ["src/*.test.ts"] },
});
