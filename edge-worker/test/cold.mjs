// How long the first decision of a new isolate takes, with a bundle of a thousand rules. It tells, and demands
// only that answers are right and that the warm-up of the worker had nothing to say.
//
// A new workerd is started each time, which evaluates the worker and then listens; it is asked once. So what is
// measured begins when the first request arrives at an isolate that has just started, and ends with its answer as the
// client sees it. What only the way there takes is told by asking for the metadata instead. The process is not new: a
// neighbour, with nothing of this project in it, has been asked before, so that workerd itself and its KV are awake. And
// the worker is the last that starts: V8 forgets what Liftoff compiled, for all workers, when another isolate starts.
//
// `npm run build` must have written the worker. The processor's time is that of the thread which runs the workers; it
// is steadier on a machine that has something else to do, and known on Linux only.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import program from "workerd";

const root = fileURLToPath(new URL("../", import.meta.url));
const TIMES = Number(process.argv[2] ?? 5);
const TOKEN = "token-of-the-cold-start";
const owned = (kind, action) => ({
  subject: { type: "user", id: "ada" },
  action: { name: action },
  resource: { type: kind, id: "x", properties: { owner: "ada", level: 5000 } },
});
const evaluation = (body) => ({
  method: "POST",
  path: "/access/v1/evaluation",
  headers: { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json", "Content-Length": body.length },
  body,
});
const greeting = { method: "POST", path: "/", headers: { "Content-Length": 2 }, body: "{}" };
const metadata = { method: "GET", path: "/.well-known/authzen-configuration", headers: {}, body: "" };

/** A worker of somebody else: it reads a body and KV, digests, and answers. */
const NEIGHBOUR = `export default {
  async fetch(request, { KV }) {
    await request.json();
    const bytes = await KV.get("any", "arrayBuffer");
    await crypto.subtle.digest("SHA-256", bytes);
    return Response.json({ bytes: bytes.byteLength });
  },
};`;

const running = new Set();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));
const folder = mkdtempSync(join(tmpdir(), "cold-"));
try {
  writeFileSync(join(folder, "few.bundle"), readFileSync(`${root}.dev/policies.bundle`));
  writeFileSync(join(folder, "thousand.bundle"), readFileSync(`${root}.dev/thousand.bundle`));
  const few = evaluation(JSON.stringify(owned("nothing", "look")));
  const thousand = evaluation(JSON.stringify(owned("kind19", "do49")));
  const starts = [
    await measured("metadata, which needs no bundle", "few", metadata, (body) => "policy_decision_point" in body),
    await measured("a decision by a few rules", "few", few, ({ decision }) => decision === false),
    await measured("a decision by 1,000 rules", "thousand", thousand, ({ decision }) => decision === true),
  ];
  console.log(`    the first answer of a new isolate, in ms: median (least to most) of ${TIMES} starts`);
  for (const { name, first, busy, second } of starts) {
    console.log(`    ${name.padEnd(32)} ${told(first)}, processor ${told(busy)}, the second one ${told(second)}`);
  }
  console.log(`    until workerd listens            ${told(starts.flatMap(({ starting }) => starting))}`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Starts workerd again and again, and asks each one the same twice. */
async function measured(name, bundle, question, isRight) {
  const times = { name, starting: [], first: [], busy: [], second: [] };
  for (let time = 0; time < TIMES; time += 1) {
    const begun = performance.now();
    const { child, port, neighbour } = await start(bundle);
    times.starting.push(performance.now() - begun);
    for (let awake = 0; awake < 3; awake += 1) await asked(neighbour, new Agent(), greeting, ({ bytes }) => bytes > 0);
    const agent = new Agent({ keepAlive: true });
    const before = processorOf(child.pid);
    times.first.push(await asked(port, agent, question, isRight));
    times.busy.push(processorOf(child.pid) - before);
    times.second.push(await asked(port, agent, question, isRight));
    agent.destroy();
    running.delete(child);
    child.kill("SIGKILL");
  }
  return times;
}

/** Starts workerd, and waits until it listens. */
async function start(bundle) {
  const file = join(folder, "config.capnp");
  writeFileSync(file, configuration(bundle));
  const child = spawn(program.default, ["serve", file, "--control-fd=3"], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on("line", (line) => assert.match(line, /"event":"bundle"/, "the log has only what is expected"));
  }
  const ports = new Map();
  await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("workerd ended")));
    createInterface(child.stdio[3]).on("line", (line) => {
      const { socket, port } = JSON.parse(line);
      if (ports.set(socket, port).size === 2) resolve();
    });
  });
  return { child, port: ports.get("http"), neighbour: ports.get("neighbour") };
}

/** The worker as it is deployed, with a KV and a cache that are workers themselves and start before it. */
function configuration(bundle) {
  const built = `${root}.dev/worker/`;
  for (const name of readdirSync(built)) copyFileSync(built + name, join(folder, name));
  const text = JSON.stringify;
  const code = readdirSync(built).filter((name) => name.endsWith(".wasm"));
  const modules = ['(name = "index.js", esModule = embed "index.js")', ...code.map((name) => `(name = ${text(name)}, wasm = embed ${text(name)})`)];
  const variables = { BUNDLE: "kv:policies", TRUSTED_KEYS: readFileSync(`${root}.dev/release.pub.jwk`, "utf8"), AUTH_TOKENS: text({ cold: TOKEN }) };
  const bindings = Object.entries(variables).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`);
  const kv = 'import bundle from "bundle"; export default { fetch: () => new Response(bundle) };';
  const cache = "export default { fetch: () => new Response(null, { status: 504 }) };";
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "kv", worker = .kv), (name = "cache", worker = .cache), (name = "neighbour", worker = .neighbour), (name = "main", worker = .main)],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "main"),
    (name = "neighbour", address = "127.0.0.1:0", http = (), service = "neighbour"),
  ],
);
const kv :Workerd.Worker = (compatibilityDate = "2026-04-01", modules = [
  (name = "kv.js", esModule = ${text(kv)}),
  (name = "bundle", data = embed "${bundle}.bundle"),
]);
const cache :Workerd.Worker = (compatibilityDate = "2026-04-01", modules = [(name = "cache.js", esModule = ${text(cache)})]);
const neighbour :Workerd.Worker = (
  compatibilityDate = "2026-04-01",
  modules = [(name = "neighbour.js", esModule = ${text(NEIGHBOUR)})],
  bindings = [(name = "KV", kvNamespace = "kv")],
);
const main :Workerd.Worker = (
  compatibilityDate = "2026-04-01",
  cacheApiOutbound = "cache",
  modules = [${modules.join(", ")}],
  bindings = [${bindings.join(", ")}, (name = "POLICIES_KV", kvNamespace = "kv")],
);
`;
}

/** Measures the time of an answer, on a connection that stays. */
async function asked(port, agent, { body, ...question }, isRight) {
  const begun = performance.now();
  const answer = await new Promise((resolve, reject) => {
    const sent = request({ host: "127.0.0.1", port, agent, ...question }, (response) => {
      let text = "";
      response.on("data", (piece) => (text += piece)).on("end", () => resolve(text));
    });
    sent.on("error", reject).end(body);
  });
  const taken = performance.now() - begun;
  assert.ok(isRight(JSON.parse(answer)), answer);
  return taken;
}

/** Milliseconds that the first thread of a process has run. */
function processorOf(id) {
  if (process.platform !== "linux") return NaN;
  return Number(readFileSync(`/proc/${id}/task/${id}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

function told(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const [least, middle, most] = [sorted[0], sorted[sorted.length >> 1], sorted[sorted.length - 1]].map((time) => time.toFixed(1));
  return `${middle} (${least} to ${most})`;
}
