// The tests of MQTT, of rate limits and of the signed log run in Node, with a worker in workerd as it is deployed: clients are programs
// elsewhere. `npm run build:mqtt`, `build:frames` and `build:log` must have written the workers.

import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/mqtt/*.test.mjs", "test/limits/*.test.mjs", "test/log/*.test.mjs"], testTimeout: 30_000, hookTimeout: 30_000, silent: "passed-only" },
});
