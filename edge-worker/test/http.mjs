// The interoperability scenarios of AuthZEN over HTTP, against the worker that `wrangler dev` runs.
//
// The payloads are read where CORPORA says; without them only the cases of this file run, and a line says so.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";

import { seed, start, TOKEN } from "../scripts/local.mjs";

const corpora = process.env.CORPORA ?? new URL("../../../shared/corpora", import.meta.url).pathname;
const tally = new Map();

seed();
const port = await freePort();
const base = `http://127.0.0.1:${port}`;
const worker = start(port, { stdio: ["ignore", "pipe", "pipe"], detached: true });
let output = "";
for (const stream of [worker.stdout, worker.stderr]) stream.on("data", (text) => (output += text));
try {
  await listening();
  await transport();
  await certification();
  await interop();
  for (const [name, count] of tally) console.log(`    ${name}: ${count} of ${count} answers are right`);
} catch (thrown) {
  console.error(output.split("\n").slice(-40).join("\n"));
  throw thrown;
} finally {
  process.kill(-worker.pid, "SIGTERM");
}

/** Tests the rules of the specification on HTTP. */
async function transport() {
  const reading = { subject: user("alice"), action: { name: "read" }, resource: record("record-1") };
  const headers = { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json", "X-Request-ID": "a-1" };
  const send = (init) => fetch(`${base}/access/v1/evaluation`, { method: "POST", headers, body: JSON.stringify(reading), ...init });
  const check = async (name, init, status) => {
    const response = await send(init);
    assert.equal(response.status, status, name);
    assert.equal(response.headers.get("Content-Type"), "application/json", name);
    const body = await response.json();
    assert.equal(typeof (status === 200 ? body.decision : body.message), status === 200 ? "boolean" : "string", name);
    count("transport");
    return response;
  };
  const answered = await check("a good request", {}, 200);
  assert.equal(answered.headers.get("X-Request-ID"), "a-1");
  await check("no token", { headers: { "Content-Type": "application/json" } }, 401);
  await check("a wrong token", { headers: { ...headers, Authorization: "Bearer wrong" } }, 401);
  await check("a wrong content type", { headers: { ...headers, "Content-Type": "text/plain" } }, 400);
  await check("no JSON", { body: "{" }, 400);
  await check("nothing", { body: "" }, 400);
  await check("too much", { body: " ".repeat(2 ** 20 + 1) }, 413);
  await check("far too much", { body: " ".repeat(2 ** 23) }, 413);
  const pieces = new ReadableStream({
    start: (controller) => {
      for (let piece = 0; piece < 20; piece += 1) controller.enqueue(new Uint8Array(65_536).fill(0x20));
      controller.close();
    },
  });
  await check("too much in pieces", { body: pieces, duplex: "half" }, 413);
  await check("another method", { method: "PUT" }, 405);
  const health = await (await fetch(`${base}/health`)).json();
  assert.deepEqual([health.status, health.revision], ["ok", undefined]);
  const known = await (await fetch(`${base}/.well-known/authzen-configuration`)).json();
  assert.equal(known.policy_decision_point, base);
  assert.equal(known.access_evaluations_endpoint, `${base}/access/v1/evaluations`);
}

/** The fixture of the certification scenario, and what it asks of batches and searches. */
async function certification() {
  const check = async (path, body, expected, found) => {
    assert.deepEqual(found(await ask(path, body)), expected, JSON.stringify(body));
    count("certification");
  };
  const decide = (body, expected) => check("evaluation", body, expected, ({ decision }) => decision);
  const all = (body, expected) =>
    check("evaluations", body, expected, ({ evaluations }) => evaluations.map(({ decision }) => decision));
  const find = (path, body, expected) =>
    check(`search/${path}`, body, expected, ({ results }) => results.map(({ id, name }) => id ?? name));
  const [alice, bob, first] = [user("alice"), user("bob"), record("record-1")];
  const [read, write] = [{ name: "read" }, { name: "write" }];
  const archived = { ...record("record-2"), properties: { status: "archived" } };
  const active = { ...first, properties: { status: "active" } };
  const admin = { ...bob, properties: { role: "admin" } };
  const erase = (soft) => ({ name: "delete", properties: { soft } });
  const context = { time: "2025-06-27T18:03-07:00", ip: "192.168.1.1" };
  await decide({ subject: alice, action: read, resource: first }, true);
  await decide({ subject: alice, action: write, resource: first }, true);
  await decide({ subject: bob, action: read, resource: first }, true);
  await decide({ subject: bob, action: write, resource: first }, false);
  await decide({ subject: alice, action: write, resource: archived }, false);
  await decide({ subject: admin, action: write, resource: archived }, true);
  await decide({ subject: alice, action: erase(true), resource: first }, true);
  await decide({ subject: alice, action: erase(false), resource: first }, false);
  await decide({ subject: alice, action: read, resource: first, context, foo: "bar", futureField: { nested: true } }, true);
  const described = { ...alice, properties: { department: "Sales", role: "manager" } };
  await decide({ subject: described, action: { ...read, properties: { method: "GET" } }, resource: { ...active, properties: { owner: "bob" } } }, true);
  await all({ subject: bob, resource: first, evaluations: [{ action: read }, { action: write }] }, [true, false]);
  await all({ subject: alice, action: write, evaluations: [{ resource: active }, { resource: archived }] }, [true, false]);
  await all({ action: write, resource: archived, evaluations: [{ subject: alice }, { subject: admin }] }, [false, true]);
  await all({ subject: alice, action: write, resource: active, evaluations: [{}, { resource: archived }] }, [true, false]);
  await all({ subject: alice, action: read, options: { evaluations_semantic: "execute_all" }, evaluations: [{ resource: first }, {}] }, [true, false]);
  const three = [{ action: read }, { action: write }, { action: read }];
  const meaning = (evaluations_semantic) => ({ subject: bob, resource: first, options: { evaluations_semantic }, evaluations: three });
  await all(meaning("deny_on_first_deny"), [true, false]);
  await all(meaning("permit_on_first_permit"), [true]);
  await find("subject", { subject: { type: "user" }, action: read, resource: first, context }, ["alice", "bob"]);
  await find("subject", { subject: alice, action: read, resource: first }, ["alice", "bob"]);
  await find("subject", { subject: { type: "user" }, action: write, resource: archived }, ["bob"]);
  await find("resource", { subject: alice, action: read, resource: first }, ["record-1", "record-2"]);
  await find("resource", { subject: admin, action: write, resource: { type: "record" } }, ["record-2"]);
  await find("action", { subject: alice, resource: first }, ["read", "write"]);
  await find("action", { subject: admin, resource: archived }, ["read", "write"]);
  await find("action", { subject: user("nonexistent-user"), resource: first }, []);
  await find("subject", { subject: { type: "spaceship" }, action: read, resource: first }, []);
}

/** The payloads of the working group: Todo in all its versions, API gateways, identity provider. */
async function interop() {
  const folder = `${corpora}/authzen/interop`;
  if (!existsSync(folder)) return console.log(`    skipped: the payloads of the interoperability scenarios are not at ${folder}`);
  const todo = ["decisions", ...["00", "01", "02"].map((version) => `decisions-authorization-api-1_0-${version}`)];
  for (const file of todo) await payloads(`todo ${file}`, `${folder}/authzen-todo-backend/test/${file}.json`);
  await payloads("gateway", `${folder}/authzen-api-gateways/test-harness/test/decisions.json`);
  await payloads("identity provider", `${folder}/authzen-idp/test-harness/src/results.json`);
}

async function payloads(name, file) {
  const { evaluation, decisions, evaluations = [], search = [] } = JSON.parse(readFileSync(file, "utf8"));
  const check = async (path, cases, found, right = (expected) => expected) => {
    for (const { request, expected } of cases) {
      assert.deepEqual(found(await ask(path, request)), right(expected), JSON.stringify(request));
      count(name);
    }
  };
  await check("evaluation", evaluation ?? decisions ?? [], ({ decision }) => decision);
  await check("evaluations", evaluations, (answer) => answer.evaluations);
  await check("search/resource", search, ({ results }) => results, ({ results }) => results);
  assert.ok(tally.get(name) > 0, `${file} holds no payload`);
}

async function ask(path, body) {
  const headers = { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json" };
  const response = await fetch(`${base}/access/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

/** Asks until the worker answers; gives up after a minute, or when it has ended. */
async function listening() {
  for (let attempt = 0; attempt < 300; attempt += 1) {
    assert.equal(worker.exitCode, null, "wrangler dev has ended");
    const response = await fetch(`${base}/health`).catch(() => undefined);
    if (response !== undefined) return assert.equal(response.status, 200, await response.text());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("wrangler dev does not answer");
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function user(id) {
  return { type: "user", id };
}

function record(id) {
  return { type: "record", id };
}

function count(name) {
  tally.set(name, (tally.get(name) ?? 0) + 1);
}
