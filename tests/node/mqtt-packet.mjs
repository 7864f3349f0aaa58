// Runs the test file of mqtt-packet, an npm package, against the packets of `wardgate/mqtt`:
//
//   node mqtt-packet.mjs TEST_JS
//
// and writes a line for each of its cases: { name, failure } as JSON, where `failure` is absent if the case passed, or
// { name, skipped } with a reason. The functions of the file that make its cases are replaced, so that they
// hand over their arguments; nothing of mqtt-packet itself is loaded.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { runInNewContext } from "node:vm";
import { mqtt } from "../../npm/dist/node/mqtt.js";
import { fromPacket, isOld, toPacket } from "./mqtt-packet-shapes.mjs";

/** The tests that are about how mqtt-packet is called. */
const OF_THE_INTERFACE = new Set([
  "cacheNumbers get/set/unset",
  "disabled numbers cache",
  "support cork",
  "userProperties null prototype",
]);

/** The types that may be written shorter. */
const LEAVE_OUT = new Set(["puback", "pubrec", "pubrel", "pubcomp", "disconnect", "auth"]);

/** What the tests compare and no packet shows. */
const INTERNAL = new Set(["remaining bytes", "expected error message"]);

const WIDEST = { packetBytes: 268_435_460, connectBytes: 268_435_460, topicBytes: 65_535, topicLevels: 128 };

const CASES = {
  testParseGenerate: (name, object, bytes, options) => [name, object, () => both(object, bytes, options)],
  testParseAndGenerate: (name, object, bytes, options) => [name, object, () => both(object, bytes, options)],
  testParseGenerateDefaults: (name, object, bytes, full, options) => [
    name,
    full,
    () => parsed(full, bytes, options) ?? generated(object, bytes, options),
  ],
  testParseOnly: (name, object, bytes, options) => [name, object, () => parsed(object, bytes, options)],
  testGenerateOnly: (name, object, bytes, options) => [name, object, () => generated(object, bytes, options)],
  testParseError: (expected, bytes, options) => [expected, {}, () => refused(bytes, options)],
  testGenerateError: (expected, object, options, name) => [name ?? expected, {}, () => notGenerated(object, options)],
  testWriteToStreamError: (expected, object) => [`writeToStream ${expected}`, {}, () => notGenerated(object)],
  testGenerateErrorMultipleCmds: (commands, expected, object, options) => [
    `${expected} on ${commands}`,
    {},
    () => commands.map((cmd) => notGenerated({ ...object, cmd }, options)).find((failure) => failure !== undefined),
  ],
  test: (name, run) => [name, {}, () => attempted(run)],
};

for (const [number, [name, object, run]] of cases(process.argv[2]).entries()) {
  const line = { name: `${String(number + 1).padStart(3, "0")} ${name}` };
  if (OF_THE_INTERFACE.has(name)) line.skipped = "about the programming interface of mqtt-packet";
  else if (isOld(object)) line.skipped = "MQTT 3.1 and the bit of bridges are not offered";
  else line.failure = failure(run);
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Returns the name, the object and the check of each case of the file. */
function cases(path) {
  const found = [];
  const hooks = Object.entries(CASES).map(([name, make]) => [name, (...given) => void found.push(make(...given))]);
  const own = createRequire(import.meta.url);
  const shim = { parser, generate: (object, options) => Buffer.from(encoded(object, options)) };
  const modules = { tape: Object.fromEntries(hooks).test, "./": shim, "readable-stream": own("node:stream"), util: own("node:util") };
  const source = readFileSync(path, "utf8").replace(/^function (test\w+)/gm, "function replaced_$1");
  runInNewContext(source, { ...Object.fromEntries(hooks), Buffer, require: (name) => modules[name] });
  return found;
}

function failure(run) {
  try {
    return run();
  } catch (error) {
    return { expected: "no error", found: `${error.code ?? error.name}: ${error.message}` };
  }
}

function both(object, bytes, options) {
  return parsed(object, bytes, options) ?? generated(object, bytes, options);
}

/** Decodes the bytes, compares the packet with the object, and encodes it again. */
function parsed(object, bytes, options) {
  const version = versionOf(object, options);
  const found = mqtt.decode(bytes, { version, limits: WIDEST });
  if (found.kind === "more") return { expected: "a packet", found: `a part of ${found.least} bytes` };
  const [expected, packet] = [toPacket(object, version), found.packet].map(canonical);
  if (found.used !== bytes.length) return { expected: `${bytes.length} bytes`, found: `${found.used} bytes` };
  if (expected !== packet) return { expected, found: packet };
  const again = Buffer.from(mqtt.encode(found.packet, version));
  // Acknowledgements, DISCONNECT and AUTH are written without an end that may be left out.
  const isShort = again.length < bytes.length && LEAVE_OUT.has(object.cmd);
  return again.equals(bytes) || isShort ? undefined : { expected: hex(bytes), found: hex(again) };
}

function generated(object, bytes, options) {
  const found = Buffer.from(encoded(object, options));
  const isShort = found.length < bytes.length && LEAVE_OUT.has(object.cmd);
  return found.equals(bytes) || isShort ? undefined : { expected: hex(bytes), found: hex(found) };
}

function refused(bytes, options) {
  try {
    const found = mqtt.decode(bytes, { version: versionOf({}, options), limits: WIDEST });
    return { expected: "an error", found: canonical(found.packet ?? found) };
  } catch (error) {
    return error.name === "WardgateError" ? undefined : { expected: "a WardgateError", found: String(error) };
  }
}

function notGenerated(object, options) {
  try {
    return { expected: "an error", found: hex(encoded(object, options)) };
  } catch (error) {
    const isKnown = ["WardgateError", "TypeError", "RangeError"].includes(error.name);
    return isKnown ? undefined : { expected: "an error of its kind", found: String(error) };
  }
}

function encoded(object, options) {
  const version = versionOf(object, options);
  return mqtt.encode(toPacket(object, version), version);
}

/** Runs a test that is written out, with a parser and a writer of the shape that it expects. */
function attempted(run) {
  let first;
  const check = (holds, expected, found) => {
    if (!holds) first ??= { expected: String(expected), found: String(found) };
  };
  run({
    plan: () => {},
    end: () => {},
    pass: () => {},
    ok: (value, label) => check(value, label, value),
    equal: (a, b, label) => check(a === b || INTERNAL.has(label), b, a),
    deepLooseEqual: (a, b) => check(canonical(a) === canonical({ ...b, length: undefined }), canonical(b), canonical(a)),
  });
  return first;
}

/** A parser of bytes in pieces, as mqtt-packet has it. */
function parser(options) {
  const listeners = { packet: () => {}, error: () => {} };
  let kept = Buffer.alloc(0);
  return {
    on: (event, listener) => void (listeners[event] = listener),
    parse(bytes) {
      kept = Buffer.concat([kept, bytes]);
      try {
        while (kept.length > 0) {
          const found = mqtt.decode(kept, { version: versionOf({}, options), limits: WIDEST });
          if (found.kind === "more") break;
          kept = kept.subarray(found.used);
          listeners.packet(fromPacket(found.packet));
        }
      } catch (error) {
        kept = Buffer.alloc(0);
        listeners.error(error);
      }
      return kept.length;
    },
  };
}

function versionOf(object, options) {
  return (object.protocolVersion ?? options?.protocolVersion) === 5 ? 5 : 4;
}

/** Writes a value so that equal packets have equal texts: without what is usual, and names in order. */
function canonical(value) {
  return JSON.stringify(plain(value, ""));
}

function plain(value, name) {
  if ([undefined, null, false, 0, ""].includes(value)) return undefined;
  if (value instanceof Uint8Array) return value.length > 0 ? hex(value) : undefined;
  if (name === "userProperties" && Array.isArray(value)) return value.map(String).sort();
  if (Array.isArray(value)) return value.map((one) => plain(one, "") ?? 0);
  if (typeof value !== "object") return value;
  const members = Object.entries(value).map(([key, member]) => [key, plain(member, key)]);
  const kept = members.filter(([, member]) => member !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

function hex(bytes) {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("hex");
  if (bytes.length <= 200) return start;
  return `${start}... of ${bytes.length} bytes, ${createHash("sha256").update(bytes).digest("hex")}`;
}
