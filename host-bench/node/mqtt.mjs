// Measures packets, sets of filters and gates of `wardgate/mqtt`, and packets beside mqtt-packet:
//
//     cargo xtask test && node host-bench/node/mqtt.mjs
//
// It needs the built package and its fixtures. It compares the answers before it times any; rows take turns,
// and a figure is the median of several samples.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { cpus, loadavg } from "node:os";

import { open } from "../../npm/dist/node/index.js";
import { mqtt } from "../../npm/dist/node/mqtt.js";

const require = createRequire(new URL("../../npm/package.json", import.meta.url));
const others = require("mqtt-packet");
const SAMPLES = 21;
const CALLS = 20_000;
/** What rows return, so that no engine leaves out their work. */
let sum = 0;
const TOPICS = Array.from({ length: 64 }, (_, at) => `sensors/room-${at}/temperature`);

await mqtt.load();
const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
const load = loadavg()[0].toFixed(1);
console.log(`${cpus()[0].model}, ${cpus().length} processors, load ${load}, Node ${process.version}, commit ${commit}`);
for (const version of [4, 5]) for (const size of [64, 1024]) packets(version, size);
topics();
await gates();

function packets(version, size) {
  const protocolVersion = version;
  const theirs = TOPICS.map((topic) => ({ cmd: "publish", topic, payload: Buffer.alloc(size, 7), qos: 0, retain: false, dup: false }));
  const ours = TOPICS.map((topic, at) => ({ kind: "publish", topic, payload: theirs[at].payload }));
  const frames = theirs.map((packet) => others.generate(packet, { protocolVersion }));
  const parser = others.parser({ protocolVersion });
  let parsed;
  parser.on("packet", (packet) => (parsed = packet));
  const options = { version };
  const target = new Uint8Array(4096);
  for (const [at, frame] of frames.entries()) {
    parser.parse(frame);
    const { packet, used } = mqtt.decode(frame, options);
    const isSame = packet.topic === parsed.topic && Buffer.compare(packet.payload, parsed.payload) === 0 && used === frame.length;
    const length = mqtt.encodeInto(ours[at], version, target);
    const isWritten = Buffer.compare(mqtt.encode(ours[at], version), frame) === 0 && Buffer.compare(target.subarray(0, length), frame) === 0;
    if (!isSame || !isWritten) throw new Error("the answers differ");
  }
  table(`PUBLISH of ${size} B, ${version === 4 ? "3.1.1" : "5.0"}`, {
    "mqtt-packet, parse": (at) => (parser.parse(frames[at]), parsed.topic.length + parsed.payload.length),
    "decode": (at) => {
      const { packet } = mqtt.decode(frames[at], options);
      return packet.topic.length + packet.payload.length;
    },
    "mqtt-packet, generate": (at) => others.generate(theirs[at], { protocolVersion }).length,
    "encode": (at) => mqtt.encode(ours[at], version).length,
    "encodeInto": (at) => mqtt.encodeInto(ours[at], version, target),
  });
}

function topics() {
  const set = mqtt.filters();
  for (let at = 0; at < 10_000; at += 1) set.add(`sensors/room-${at}/temperature`, at);
  set.add("other/+/temperature", -1);
  if (TOPICS.some((topic, at) => set.match(topic).join() !== String(at))) throw new Error("the answers differ");
  const patterns = Array.from({ length: 100 }, (_, at) => `sensors/room-${at}/+`);
  if (mqtt.cover(TOPICS[5], patterns) !== "all" || !mqtt.matches("sensors/+/temperature", TOPICS[5])) throw new Error("the answers differ");
  table("topics", {
    "match in 10,001 filters": (at) => set.match(TOPICS[at]).length,
    "matches": (at) => Number(mqtt.matches("sensors/+/temperature", TOPICS[at])),
    "cover by 100 patterns": (at) => mqtt.cover(TOPICS[at], patterns).length,
  });
}

async function gates() {
  const pdp = await open(readFileSync(new URL("../../npm/fixtures/mqtt.bundle", import.meta.url)), { trust: "unsigned" });
  const gate = mqtt.gate(pdp, { principal: { id: "ada", roles: ["device"] } });
  gate.fromClient(mqtt.encode({ kind: "connect", version: 5, clientId: "c" }, 5));
  gate.fromServer(mqtt.encode({ kind: "connack" }, 5));
  const allowed = TOPICS.map((topic) => mqtt.encode({ kind: "publish", topic, payload: new Uint8Array(64) }, 5));
  const denied = TOPICS.map((topic) => mqtt.encode({ kind: "publish", topic, payload: new Uint8Array(64), retain: true }, 5));
  if (allowed.some((bytes) => gate.fromClient(bytes).forward !== bytes)) throw new Error("the answers differ");
  if (denied.some((bytes) => gate.fromClient(bytes).forward.length > 0)) throw new Error("the answers differ");
  table("a gate, PUBLISH of 64 B", {
    "allowed": (at) => gate.fromClient(allowed[at]).forward.length,
    "denied": (at) => gate.fromClient(denied[at]).reply.length,
  });
}

/** Times rows in turns and prints them. */
function table(title, rows) {
  const times = Object.fromEntries(Object.keys(rows).map((name) => [name, []]));
  const turns = Object.entries(rows);
  for (let sample = 0; sample < 2 * SAMPLES; sample += 1) {
    for (const [name, row] of turns) times[name].push(timed(row));
    turns.reverse();
  }
  for (const [name, all] of Object.entries(times)) {
    // The first half warms up.
    const median = all.slice(SAMPLES).sort((one, other) => one - other)[SAMPLES >> 1];
    console.log(`${title.padEnd(28)} ${name.padEnd(26)} ${median.toFixed(0).padStart(7)} ns`);
  }
}

/** Returns the nanoseconds of a call. */
function timed(row) {
  const start = performance.now();
  for (let call = 0; call < CALLS; call += 1) sum += row(call % TOPICS.length);
  return ((performance.now() - start) * 1e6) / CALLS;
}
