import { fileURLToPath } from "node:url";

import { defineConfig } from "vitest/config";

import { componentFiles } from "./component-files.ts";

// Modules of accessors and examples import the package, which for the tests is its source.
const names = ["fast/accessors", "adapters/express", "adapters/hono", "pool/pool", "adapters/fastify", "adapters/nest", "adapters/react", "adapters/trpc", "adapters/cerbos", "adapters/view", "adapters/vue", "adapters/opentelemetry", "adapters/svelte", "adapters/angular", "spocp/spocp", "mqtt/mqtt", "log/log", "log/log-sequencer", "analysis/analysis", "ratelimit/ratelimit"];
const alias = [
  ...names.map((path) => ({ find: `wardgate/${path.split("/").at(-1)}`, replacement: source(path) })),
  { find: "wardgate/policies", replacement: source("bundlers/imported") },
  { find: /^wardgate$/, replacement: source("index") },
  { find: "#load", replacement: source("runtimes/node/load") },
  { find: "#load-spocp", replacement: source("runtimes/node/load-spocp") },
  { find: "#load-mqtt", replacement: source("runtimes/node/load-mqtt") },
  { find: "#load-log", replacement: source("runtimes/node/load-log") },
  { find: "#load-log-sequencer", replacement: source("runtimes/node/load-log-sequencer") },
  { find: "#load-analysis", replacement: source("runtimes/node/load-analysis") },
  { find: "#load-compiler", replacement: source("runtimes/node/load-compiler") },
  { find: "#spawn", replacement: source("pool/testing-spawn") },
];

// Classes of Angular have decorators of the form before the standard. The time ends a test that hangs; on a busy machine some take more than the usual five seconds.
export default defineConfig({ plugins: [componentFiles()], oxc: { decorator: { legacy: true } }, resolve: { alias }, test: { include: ["src/**/*.test.{ts,tsx}"], testTimeout: 60_000 } });

function source(path: string): string {
  return fileURLToPath(new URL(`src/${path}.ts`, import.meta.url));
}
