// workerd, where the tests of Workers run: the package imports its module, compiled beforehand.

import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { cloudflareTest } from "@cloudflare/vitest-pool-workers";
import { Response } from "miniflare";
import { defineConfig } from "vitest/config";

const words = JSON.parse(process.env.WARDGATE_PARITY);
const [questions, report] = words.splice(-2);

/** Hands out the questions, and takes the report; other runtimes use files. */
async function exchange(request) {
  if (request.method !== "POST") return new Response(Readable.toWeb(createReadStream(questions)));
  await writeFile(report, await request.text());
  return new Response();
}

const miniflare = {
  compatibilityDate: "2026-04-01",
  // As in wrangler: an import of such a file is the compiled module.
  modulesRules: [{ type: "CompiledWasm", include: ["**/*.wasm"] }],
  serviceBindings: { EXCHANGE: exchange },
};

export default defineConfig({
  plugins: [cloudflareTest({ miniflare })],
  // Many times the usual time.
  test: { include: ["workerd.test.mjs"], testTimeout: 300_000, provide: { isPlain: words[0] === "plain" } },
});
