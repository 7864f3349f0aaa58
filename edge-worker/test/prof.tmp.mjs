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

import nodeModule from "node:module"; all = []; took2 = [];
const running = new Set();
process.once("exit", () => running.forEach((child) => child.kill("SIGKILL")));
const folder = mkdtempSync(join(tmpdir(), "cold-"));
try {
  writeFileSync(join(folder, "few.bundle"), readFileSync(`${root}.dev/policies.bundle`));
  writeFileSync(join(folder, "thousand.bundle"), readFileSync(`${root}.dev/thousand.bundle`));
  globalThis.few = evaluation(JSON.stringify(owned("nothing", "look")));
  globalThis.thousand = evaluation(JSON.stringify(owned("kind19", "do49")));
  for (let k = 0; k < TIMES; k++) await profile(process.argv[3] ?? "thousand"); report();
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
  const child = spawn(program.default, ["serve", file, "--control-fd=3", "--inspector-addr=127.0.0.1:9321"], { stdio: ["ignore", "pipe", "pipe", "pipe"] });
  running.add(child);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on("line", (line) => {});
  }
  const ports = new Map();
  await new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error("workerd ended")));
    createInterface(child.stdio[3]).on("line", (line) => {
      const { socket, port } = JSON.parse(line);
      if (socket) ports.set(socket, port); if (ports.size === 2) resolve();
    });
  });
  return { child, port: ports.get("http"), neighbour: ports.get("neighbour") };
}

/** The worker as it is deployed, with a KV and a cache that are workers themselves and start before it. */
function configuration(bundle) {
  const built = `${process.env.WORKER}/`;
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

async function profile(bundle){
  const { default: WebSocket } = await import("ws");
  const { child, port, neighbour } = await start(bundle);
  for (let awake = 0; awake < 3; awake += 1) await asked(neighbour, new Agent(), greeting, ({ bytes }) => bytes > 0);
  const list = await (await fetch("http://127.0.0.1:9321/json")).json();
  const t = list.find((x) => /main/.test(x.id) || /main/.test(x.webSocketDebuggerUrl));
  const ws = new WebSocket(t.webSocketDebuggerUrl);
  await new Promise((r) => ws.once("open", r));
  let id = 0; const wait = new Map();
  ws.on("message", (m) => { const o = JSON.parse(m); if (o.id) { wait.get(o.id)(o); } });
  const cmd = (method, params = {}) => new Promise((r) => { id++; wait.set(id, r); ws.send(JSON.stringify({ id, method, params })); });
  await cmd("Profiler.enable"); await cmd("Profiler.setSamplingInterval", { interval: 50 }); console.log(JSON.stringify(await cmd("Profiler.start")));
  const agent = new Agent({ keepAlive: true });
  const q = bundle === "few" ? few : thousand;
  const took = await asked(port, agent, q, (x) => "decision" in x);
  const { result } = await cmd("Profiler.stop");
  writeFileSync("/tmp/m19/prof-" + bundle + ".json", JSON.stringify(result.profile));
  console.log(took); agent.destroy(); child.kill("SIGKILL"); ws.close();
  all.push(result.profile); took2.push(took);
}

var all, took2;
function report() {
  const { SourceMap } = nodeModule;
  const map = new SourceMap(JSON.parse(readFileSync(`${root}.dev/worker/index.js.map`, "utf8")));
  const nameOf = (f) => { if (/wasm/.test(f.functionName) || f.lineNumber < 0) return f.functionName; const e = map.findEntry(f.lineNumber, f.columnNumber); return f.functionName + " " + (e.originalSource ?? "?").split("/").slice(-2).join("/") + ":" + (e.originalLine + 1); };
  const flat = new Map(), tot = new Map(); const add = (m, k, v) => m.set(k, (m.get(k) ?? 0) + v);
  for (const p of all) { const by = new Map(p.nodes.map((n) => [n.id, n])); const parent = new Map(); for (const n of p.nodes) for (const c of n.children ?? []) parent.set(c, n.id);
    p.samples.forEach((s, i) => { const d = Math.min(p.timeDeltas[i + 1] ?? 0, 1e9); add(flat, nameOf(by.get(s).callFrame), d); const seen = new Set(); let at = s; while (at) { const k = nameOf(by.get(at).callFrame); if (!seen.has(k)) { seen.add(k); add(tot, k, d); } at = parent.get(at); } }); }
  const n = all.length; took2.sort((a, b) => a - b); console.log("took", took2[n >> 1].toFixed(1));
  for (const [t, m] of [["SELF", flat], ["TOTAL", tot]]) { console.log(t); [...m].sort((a, b) => b[1] - a[1]).slice(0, 60).forEach(([k, v]) => console.log((v / 1000 / n).toFixed(3), k)); }
}
