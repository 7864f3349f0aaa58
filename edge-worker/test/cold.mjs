// How long the first decision of a new isolate takes, with a bundle of a thousand rules. It tells, and demands nothing.
//
// A new workerd is started each time and asked once for its metadata and once, in another start, for a decision; the
// difference is bundle, signature, table and decision. `npm run build` must have written the worker.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";

import { Miniflare } from "miniflare";

const root = new URL("../", import.meta.url);
const read = (name) => readFileSync(new URL(name, root));
const TIMES = Number(process.argv[2] ?? 5);
const question = JSON.stringify({
  subject: { type: "user", id: "ada" },
  action: { name: "do49" },
  resource: { type: "kind19", id: "x", properties: { owner: "ada", level: 5000 } },
});
const decide = async (worker) => {
  const headers = { "Authorization": "Bearer token-of-the-cold-start", "Content-Type": "application/json" };
  const response = await worker.dispatchFetch("http://127.0.0.1/access/v1/evaluation", { method: "POST", headers, body: question });
  assert.deepEqual(await response.json(), { decision: true });
};
const describe = async (worker) => {
  const response = await worker.dispatchFetch("http://127.0.0.1/.well-known/authzen-configuration");
  assert.equal((await response.json()).policy_decision_point, "http://127.0.0.1");
};

const [withBundle, without, second] = [[], [], []];
for (let time = 0; time < TIMES; time += 1) {
  const worker = await startWorker();
  withBundle.push(await milliseconds(() => decide(worker)));
  second.push(await milliseconds(() => decide(worker)));
  await worker.dispose();
  const other = await startWorker();
  without.push(await milliseconds(() => describe(other)));
  await other.dispose();
}
console.log(`    first decision of a new isolate, 1,000 rules: ${told(withBundle)}`);
console.log(`    first answer of one without a bundle:         ${told(without)}`);
console.log(`    second decision:                              ${told(second)}`);

async function startWorker() {
  const files = readdirSync(new URL(".dev/worker/", root));
  const part = (name, type) => ({ type, path: name, contents: read(`.dev/worker/${name}`) });
  const modules = [part("index.js", "ESModule"), ...files.filter((name) => name.endsWith(".wasm")).map((name) => part(name, "CompiledWasm"))];
  const worker = new Miniflare({
    modules,
    modulesRoot: ".",
    compatibilityDate: "2026-04-01",
    cf: false,
    kvNamespaces: ["POLICIES_KV"],
    bindings: {
      BUNDLE: "kv:policies",
      TRUSTED_KEYS: read(".dev/release.pub.jwk").toString(),
      AUTH_TOKENS: '{"cold": "token-of-the-cold-start"}',
    },
  });
  const kv = await worker.getKVNamespace("POLICIES_KV");
  await kv.put("policies", new Uint8Array(read(".dev/thousand.bundle")));
  return worker;
}

async function milliseconds(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function told(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const [least, middle, most] = [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]].map((time) => time.toFixed(1));
  return `${middle} ms (${least} to ${most} ms, ${TIMES} times)`;
}
