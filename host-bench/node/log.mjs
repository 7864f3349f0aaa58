// Measures `wardgate/log`: what a record costs a decision, with evidence and without, a flush, deciding again, proofs and segments. It
// asserts the answers before it times them.
//
//     node --expose-gc host-bench/node/log.mjs [seconds of each row]

import { readFileSync } from "node:fs";

import { open } from "../../npm/dist/node/index.js";
import { decisionLog, openSegment, replay, segmentStart, verifyProof } from "../../npm/dist/node/log.js";

const SECONDS = Number(process.argv[2] ?? 1);
const CAPACITY = 1 << 13;
const file = (path) => readFileSync(new URL(`../../${path}`, import.meta.url));
const bundle = file("npm/fixtures/album.bundle");
const requests = Array.from({ length: 64 }, (_, at) => ({
  principal: { id: `user-${at}`, roles: ["user"] }, action: "view", resource: { kind: "album", id: `album-${at}` },
}));

/** Requests whose answer depends on an attribute and the principal. */
const edits = requests.map(({ principal, resource }) => ({ principal, action: "edit", resource: { ...resource, attr: { owner: principal.id } } }));

/** Decides so many requests, and returns the nanoseconds of each. */
function decide(pdp, count, asked = requests) {
  let allowed = 0;
  const start = process.hrtime.bigint();
  for (let at = 0; at < count; at += 1) if (pdp.isAllowed(asked[at & 63])) allowed += 1;
  const nanos = Number(process.hrtime.bigint() - start) / count;
  if (allowed !== count) throw new Error("the answers differ");
  return nanos;
}

/** Repeats a pass, after some that do not count, and prints the median of its figures. */
async function row(name, unit, pass) {
  const figures = [];
  for (let warm = 0; warm < 8; warm += 1) await pass();
  for (const end = performance.now() + SECONDS * 1000; performance.now() < end || figures.length < 5; ) figures.push(await pass());
  const sorted = figures.toSorted((one, other) => one - other);
  const [least, median] = [sorted[0], sorted[sorted.length >> 1]].map((figure) => figure.toFixed(1));
  console.log(`${name.padEnd(44)} ${median.padStart(12)} ${unit} (least ${least}, ${figures.length} passes)`);
}

const plain = await open(bundle, { trust: "unsigned" });
const heard = await open(bundle, { trust: "unsigned", onDecision: () => undefined });
let frames = [];
const log = decisionLog({ sink: (frame) => frames.push(frame), capacity: CAPACITY, flushMillis: 0 });
const logged = await open(bundle, { trust: "unsigned", log });
await row("isAllowed", "ns", () => decide(plain, CAPACITY));
await row("isAllowed, with onDecision", "ns", () => decide(heard, CAPACITY));
await row("isAllowed, with a record", "ns", async () => {
  const nanos = decide(logged, CAPACITY);
  await log.flush();
  return nanos;
});
await row("flush, of a record", "ns", async () => {
  decide(logged, CAPACITY);
  const start = performance.now();
  await log.flush();
  return ((performance.now() - start) * 1e6) / CAPACITY;
});
/** Decides as often as the log has room, and flushes. */
async function recorded(pdp, of) {
  const nanos = decide(pdp, CAPACITY, edits);
  await of.flush();
  return nanos;
}

/** Prints the memory that a decision takes from the heap, before the flush. */
function printMemory(name, pdp, asked) {
  if (globalThis.gc === undefined) return;
  gc();
  const before = process.memoryUsage().heapUsed;
  decide(pdp, CAPACITY, asked);
  console.log(`memory that ${name} takes from the heap: ${((process.memoryUsage().heapUsed - before) / CAPACITY).toFixed(2)} bytes`);
}

printMemory("a record", logged, requests);
await log.flush();
let evidenced = [segmentStart()];
const evidence = decisionLog({ sink: (frame) => evidenced.push(frame), capacity: CAPACITY, flushMillis: 0, evidence: "clear" });
const explained = await open(bundle, { trust: "unsigned", log: evidence });
await recorded(explained, evidence);
const toReplay = Buffer.concat(evidenced);
await row("isAllowed, of an attribute", "ns", () => decide(plain, CAPACITY, edits));
await row("the same, with a record", "ns", () => recorded(logged, log));
await row("the same, with a record and evidence", "ns", () => recorded(explained, evidence));
await row("flush, of a record with evidence", "ns", async () => {
  decide(explained, CAPACITY, edits);
  evidenced = [];
  const start = performance.now();
  await evidence.flush();
  return ((performance.now() - start) * 1e6) / CAPACITY;
});
printMemory("a record with evidence", explained, edits);
await evidence.flush();
await row("replay, of a record", "ns", async () => {
  let same = 0;
  const start = performance.now();
  for await (const { outcomes } of replay(toReplay, { bundles: [bundle], trust: "unsigned" })) if (outcomes[0].kind === "same") same += 1;
  if (same !== CAPACITY) throw new Error("the answers differ");
  return ((performance.now() - start) * 1e6) / CAPACITY;
});
if (log.lost + evidence.lost !== 0) throw new Error("records are lost");

frames = [];
const another = decisionLog({ sink: (frame) => frames.push(frame), capacity: CAPACITY, flushMillis: 0 });
decide(await open(bundle, { trust: "unsigned", log: another }), CAPACITY);
await another.flush();
const segment = Buffer.concat([segmentStart(), ...frames]);
await row("records of a segment, verified and read", "/s", async () => {
  let [count, allowed] = [0, 0];
  const start = performance.now();
  for (const [, record] of (await openSegment(segment)).records()) {
    count += 1;
    if (record.kind === "decision" && record.outcomes[0].answer === "allowed") allowed += 1;
  }
  if (allowed !== CAPACITY) throw new Error("the records differ");
  return count / ((performance.now() - start) / 1000);
});
const [proof, key] = ["last.tlog-proof", "key.vkey"].map((name) => file(`tests/decision-log/${name}`).toString());
let turn = 0;
for (const [name, keys] of [["with the last key", [key]], ["with another key", [key, `${key}\n`]]]) {
  await row(`proof of ${proof.length} bytes, ${name}`, "us", async () => {
    const start = performance.now();
    for (let count = 0; count < 20; count += 1) {
      const { number } = await verifyProof(proof, keys[(turn += 1) % keys.length]);
      if (number !== 449) throw new Error("the answers differ");
    }
    return ((performance.now() - start) * 1000) / 20;
  });
}
