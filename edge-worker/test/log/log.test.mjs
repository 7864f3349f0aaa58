// The way of a decision to a log that outsiders verify: two workers in workerd as they are deployed, a queue and a bucket.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { Log, LogLevel, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";

const dev = new URL("../../.dev/", import.meta.url);
const read = (name) => readFileSync(new URL(name, dev));
const TOKEN = "a-token-for-the-tests";
const built = fileURLToPath(new URL("../../../target/debug/wardgate", import.meta.url));
const command = process.env.WARDGATE ?? built;

/** Returns the files that wrangler has written for a worker. */
function modules(name) {
  const folder = new URL(`${name}/`, dev);
  const files = readdirSync(folder).filter((file) => /\.(js|wasm)$/.test(file));
  const typed = files.map((path) => ({ type: path.endsWith(".js") ? "ESModule" : "CompiledWasm", path, contents: readFileSync(new URL(path, folder)) }));
  return typed.sort((a, b) => Number(b.type === "ESModule") - Number(a.type === "ESModule"));
}

const log = [];
let settings;
let flare;
beforeAll(async () => {
  settings = {
    cf: false,
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: ({ message }) => void log.push(message),
    workers: [
      {
        name: "pdp",
        modules: modules("frames"),
        compatibilityDate: "2026-04-01",
        kvNamespaces: ["POLICIES_KV"],
        queueProducers: { DECISIONS: { queueName: "decisions" } },
        bindings: {
          BUNDLE: "kv:policies",
          TRUSTED_KEYS: read("release.pub.jwk").toString(),
          AUTH_TOKENS: { tests: TOKEN },
          DECISION_LOG: "frames",
          DECISION_EVIDENCE: "clear",
        },
      },
      {
        name: "log",
        modules: modules("log"),
        compatibilityDate: "2026-04-01",
        queueConsumers: { decisions: { maxBatchTimeout: 0, maxBatchSize: 10, maxRetries: 5, deadLetterQueue: "refused" } },
        queueProducers: { DECISIONS: { queueName: "decisions" } },
        r2Buckets: ["LOG_R2", "LOG_PRIVATE_R2"],
        durableObjects: { SEQUENCER: { className: "DecisionSequencer", useSQLite: true } },
        bindings: { LOG_KEY: read("log.key").toString(), LOG_TOKEN: TOKEN },
      },
    ],
  };
  flare = new Miniflare(settings);
  await flare.ready;
  await (await flare.getKVNamespace("POLICIES_KV", "pdp")).put("policies", Uint8Array.from(read("policies.bundle")).buffer);
});
afterAll(() => flare.dispose());

const bucket = (name = "LOG_R2") => flare.getR2Bucket(name, "log");

/** Asks about a record in the name of a subject. */
async function ask(id) {
  const body = JSON.stringify({ subject: { type: "user", id }, action: { name: "read" }, resource: { type: "record", id: "record-1" } });
  const worker = await flare.getWorker("pdp");
  const response = await worker.fetch("http://pdp/access/v1/evaluation", { method: "POST", headers: { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json" }, body });
  expect(response.status).toBe(200);
}

/** Returns the number of frames of the newest checkpoint. */
async function signed() {
  const checkpoint = await (await bucket()).get("checkpoint");
  return checkpoint === null ? 0 : Number((await checkpoint.text()).split("\n")[1]);
}

/** Waits until the checkpoint has so many frames. */
async function untilSigned(frames) {
  await expect.poll(signed, { timeout: 20_000, interval: 100 }).toBeGreaterThanOrEqual(frames);
}

/** Downloads the log into a folder, and returns what the command says of it. */
async function verified() {
  const folder = mkdtempSync(join(tmpdir(), "wardgate-log-"));
  try {
    for (const found of [await bucket(), await bucket("LOG_PRIVATE_R2")]) {
      for (const { key } of (await found.list()).objects) {
        mkdirSync(dirname(join(folder, key)), { recursive: true });
        writeFileSync(join(folder, key), Buffer.from(await (await found.get(key)).arrayBuffer()));
      }
    }
    const log = (...words) => execFileSync(command, ["log", ...words], { encoding: "utf8" });
    const at = (name) => fileURLToPath(new URL(name, dev));
    const replayed = JSON.parse(log("replay", folder, "--policies", at("policies.bundle"), "--trust", at("release.pub.jwk"), "--json"));
    const said = { shown: log("show", folder), exported: log("export", folder) };
    return { ...JSON.parse(log("verify", folder, "--trust", at("log.vkey"), "--json")), replayed, ...said };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

it("a decision is in a signed log, which the command verifies", async () => {
  expect(existsSync(command), "the command").toBe(true);
  await ask("alice");
  await untilSigned(1);
  const first = await verified();
  expect(first).toMatchObject({ origin: "log.example/edge", decisions: 1, lost: 0, unsealed: 0, replayed: { same: 1, different: [], absent: [] } });
  // Who asked is told only to those who have the private bucket.
  expect([first.shown.includes("alice"), first.exported.includes("alice")]).toEqual([false, true]);
  // Another sequencer goes on where this one was: it has only the bucket.
  await flare.setOptions(settings);
  await (await flare.getKVNamespace("POLICIES_KV", "pdp")).put("policies", Uint8Array.from(read("policies.bundle")).buffer);
  await ask("bob");
  await untilSigned((await signed()) + 1);
  expect(await verified()).toMatchObject({ decisions: 2, lost: 0, unsealed: 0, replayed: { same: 2, different: [], absent: [] } });
});

it("an operator erases a subject", async () => {
  const worker = await flare.getWorker("log");
  const erase = (body, { token = TOKEN, method = "POST", path = "/erase" } = {}) =>
    worker.fetch(`http://log${path}`, { method, headers: { Authorization: `Bearer ${token}` }, ...(method === "POST" && { body: JSON.stringify(body) }) });
  const statuses = [erase({ subjects: ["bob"] }, { token: "another-token-of-tests" }), erase({}, { method: "GET" }), erase({}, { path: "/" }), erase({ subjects: "bob" }), erase({ subjects: [] }), erase([])];
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 405, 404, 400, 400, 400]);
  expect((await verified()).exported).toContain("bob");
  const answer = await erase({ subjects: ["bob", "nobody"] });
  expect([answer.status, await answer.json()]).toEqual([200, { erased: 1 }]);
  const after = await verified();
  expect(after).toMatchObject({ decisions: 2, unsealed: 0, replayed: { same: 1, absent: [{ why: "that are erased", count: 1 }] } });
  expect([after.exported.includes("bob"), after.exported.includes("alice")]).toEqual([false, true]);
});

it("what is no frame is refused, and is told", async () => {
  const before = await signed();
  await (await flare.getQueueProducer("DECISIONS", "log")).send("no frame");
  await expect.poll(() => log.join("\n"), { timeout: 20_000, interval: 100 }).toMatch(/expected a whole frame.*"refused":1/);
  expect(await signed()).toBe(before);
  expect(log.join("\n")).not.toContain("PRIVATE+KEY");
});
