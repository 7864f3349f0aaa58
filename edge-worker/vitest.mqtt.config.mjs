// The tests of MQTT and of rate limits run in Node, with a worker in workerd as it is deployed: clients are programs elsewhere.
// `npm run build:mqtt` must have written the one for MQTT.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/mqtt/*.test.mjs", "test/limits/*.test.mjs"], testTimeout: 30_000, hookTimeout: 30_000, silent: "passed-only" },
});
