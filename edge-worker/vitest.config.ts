// The tests run inside workerd. What they need from files is read here and handed in as bindings: a worker has
// no files.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

const read = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));
const bundle = (name: string): string => read(`.dev/${name}.bundle`).toString("base64");
const corpora = process.env["CORPORA"] ?? fileURLToPath(new URL("../../shared/corpora", import.meta.url));
const interop = (path: string): string => {
  const file = `${corpora}/authzen/interop/${path}`;
  return existsSync(file) ? readFileSync(file, "utf8") : "";
};

export default defineConfig({
  plugins: [
    cloudflareTest({
      main: "./src/index.ts",
      miniflare: {
        compatibilityDate: "2026-04-01",
        // As wrangler has it: what is imported from such a file is the compiled module.
        modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
        kvNamespaces: ["POLICIES_KV", "INDEX"],
        r2Buckets: ["POLICIES_R2"],
        durableObjects: { LIMITS: { className: "LimitObject", useSQLite: true } },
        bindings: {
          RELEASE_KEY: read(".dev/release.pub.jwk").toString(),
          POLICIES: bundle("policies"),
          NEXT: bundle("next"),
          STRANGER: bundle("stranger"),
          DATED: bundle("dated"),
          LIMITED: bundle("limited"),
          LATER: bundle("later"),
          INDEX_USERS: read("index/subject.user.json").toString(),
          INDEX_RECORDS: read("index/resource.record.json").toString(),
          INTEROP_IDP: interop("authzen-idp/test-harness/src/results.json"),
        },
      },
    }),
  ],
  // The time ends a test that hangs; on a busy machine one took more than the usual five seconds.
  test: { include: ["test/*.test.ts"], silent: "passed-only", testTimeout: 60_000 },
});
