// The tests of MQTT run in Node, with the worker in workerd as it is deployed: clients are programs elsewhere.
// `npm run build:mqtt` must have written it.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/mqtt/*.test.mjs"], testTimeout: 30_000, hookTimeout: 30_000, silent: "passed-only" },
});
