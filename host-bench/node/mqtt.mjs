// Measures packets, sets of filters, covers and gates of `wardgate/mqtt` for `wardgate-host-bench`, which sends one
// job on standard input (see src/mqtt/node.rs) and reads figures. Packets stand beside those of mqtt-packet.
//
// It compares the answers before it times any.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { open } from "../../npm/dist/node/index.js";
import { mqtt } from "../../npm/dist/node/mqtt.js";
import { measure } from "./measure.mjs";

/** The acts of one pass, so that reading the clock costs nothing beside them. */
const ACTS = 1000;
const TOPICS = Array.from({ length: 64 }, (_, at) => `sensors/room-${at}/temperature`);
const MAKERS = { packets, filters, covers, gate };

const job = JSON.parse(readFileSync(0, "utf8"));
await mqtt.load();
process.stdout.write(JSON.stringify(await MAKERS[job.work](job)));

function packets({ version, size }) {
  const require = createRequire(new URL("../../npm/package.json", import.meta.url));
  const others = require("mqtt-packet");
  const name = `mqtt-packet ${require("mqtt-packet/package.json").version}`;
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
  const is = (packet, at) => packet.topic === TOPICS[at] && packet.payload.length === size;
  return {
    encode: figures([
      row("Wardgate encodeInto", "ours", (at) => mqtt.encodeInto(ours[at], version, target) === frames[at].length),
      row("Wardgate encode", "ours", (at) => mqtt.encode(ours[at], version).length === frames[at].length),
      row(`${name} generate`, "rival", (at) => others.generate(theirs[at], { protocolVersion }).length === frames[at].length),
    ]),
    decode: figures([
      row("Wardgate decode", "ours", (at) => is(mqtt.decode(frames[at], options).packet, at)),
      row(`${name} parse`, "rival", (at) => (parser.parse(frames[at]), is(parsed, at))),
    ]),
  };
}

function filters() {
  const set = mqtt.filters();
  for (let at = 0; at < 10_000; at += 1) set.add(`sensors/room-${at}/temperature`, at);
  set.add("other/+/temperature", -1);
  if (TOPICS.some((topic, at) => set.match(topic).join() !== String(at))) throw new Error("the answers differ");
  return { rows: figures([row("Wardgate match", "ours", (at) => set.match(TOPICS[at])[0] === at)]) };
}

function covers() {
  const patterns = Array.from({ length: 100 }, (_, at) => `sensors/room-${at}/+`);
  return {
    rows: figures([
      row("Wardgate matches", "ours", (at) => mqtt.matches("sensors/+/temperature", TOPICS[at])),
      row("Wardgate cover, by 1", "ours", (at) => mqtt.cover(TOPICS[at], ["sensors/#"]) === "all"),
      row("Wardgate cover, by 100", "ours", (at) => mqtt.cover(TOPICS[at], patterns) === "all"),
    ]),
  };
}

async function gate({ bundle, roles }) {
  const pdp = await open(Buffer.from(bundle, "base64"), { trust: "unsigned" });
  const opened = roles.map((role) => {
    const gate = mqtt.gate(pdp, { principal: { id: "ada", roles: [role] } });
    gate.fromClient(mqtt.encode({ kind: "connect", version: 5, clientId: "gear-001" }, 5));
    gate.fromServer(mqtt.encode({ kind: "connack" }, 5));
    return gate;
  });
  const packets = (part) =>
    roles.map((role) => mqtt.encode({ kind: "publish", topic: `${role.replace("-", "/")}/${part}/state`, payload: new Uint8Array(64) }, 5));
  const allowed = packets("boiler");
  const denied = packets("secret");
  const isPassed = (at) => opened[at].fromClient(allowed[at]).forward.length === allowed[at].length;
  const isRefused = (at) => opened[at].fromClient(denied[at]).forward.length === 0;
  if (!roles.every((_, at) => isPassed(at) && isRefused(at))) throw new Error("the answers differ");
  return {
    rows: figures([
      row("Wardgate, 1,000 rules, allowed", "ours", isPassed, roles.length),
      row("Wardgate, 1,000 rules, denied", "ours", isRefused, roles.length),
    ]),
  };
}

/** Makes a row; `act` returns true if its result was right. */
function row(name, side, act, turns = TOPICS.length) {
  const run = (from, to) => {
    let wrong = 0;
    for (let at = from; at < to; at += 1) if (!act(at % turns)) wrong += 1;
    return wrong;
  };
  return { name, side, run };
}

function figures(rows) {
  return measure(rows, { quick: job.quick, requests: { length: ACTS } }).map((figure) => ({ ...figure, requests: 0 }));
}
