// Checks `wardgate/mqtt` in any runtime: examples, and the digest of the answers to generated questions, which must
// be the same everywhere. `npm/src/mqtt` compares such answers with plain code and with another codec.

import { hash, load, WardgateError } from "wardgate";
import { mqtt } from "wardgate/mqtt";

/** Throws if an answer is wrong. */
export async function checkMqtt() {
  await Promise.all([load(), mqtt.load()]);
  mustBe("cover", [mqtt.cover("a/#", ["a", "a/+/#"]), mqtt.cover("a/#", ["b"]), mqtt.cover("ü/+", ["ü/b"])], ["all", "none", { part: "ü/x" }]);
  checkSets();
  checkGate();
  mustBe("the digest", digest(), "6eccdbb133f1600e0b0fcc6eee60c776d295defc36157da530bf1e803206c187");
}

function checkSets() {
  const set = mqtt.filters();
  const ids = ["a/+", "a/#", "+/b", "c"].map((filter) => set.add(filter, filter));
  mustBe("match", set.match("a/b").sort(), ["+/b", "a/#", "a/+"]);
  set.remove(ids[0]);
  mustBe("match", set.match("a/b").sort(), ["+/b", "a/#"]);
  set.dispose();
}

function checkGate() {
  const asked = [];
  const isAllowed = (action, { id }) => asked.push(`${action} ${id}`) > 0 && id !== "denied";
  const gate = mqtt.gate({ for: () => ({ isAllowed }) }, { principal: { id: "ada", roles: [] } });
  const connect = mqtt.encode({ kind: "connect", version: 4, clientId: "c" }, 4);
  const publish = mqtt.encode({ kind: "publish", topic: "a/ü", payload: "hello" }, 4);
  const steps = [
    gate.fromClient(connect).forward,
    gate.fromServer(mqtt.encode({ kind: "connack" }, 4)).reply,
    gate.fromClient(publish).forward,
    gate.fromClient(mqtt.encode({ kind: "publish", topic: "denied" }, 4)).forward,
  ];
  mustBe("a gate", steps.map(({ length }) => length), [connect.length, 4, publish.length, 0]);
  mustBe("its questions", asked, ["connect c", "publish a/ü", "publish denied"]);
  mustBe("its end", gate.fromClient(Uint8Array.of(0x30, 3, 0, 1, 0x2b)).close?.reason, 0x90);
  gate.dispose();
}

/** Returns the digest of the answers to generated questions about topics and packets. */
function digest() {
  let state = 20_261_124;
  const random = (most) => (state = (state * 48_271) % 2_147_483_647) % most;
  const topic = (words) => Array.from({ length: 1 + random(4) }, () => words[random(words.length)]).join("/");
  const answers = [];
  for (let step = 0; step < 2000; step += 1) {
    const [filter, other, name] = [topic(["a", "b", "+", "", "$s"]), `${topic(["a", "+", "ü"])}/#`, topic(["a", "b", "ü", ""])];
    answers.push(answer(() => [mqtt.matches(filter, name), mqtt.cover(filter, [other, name]), mqtt.cover(other, [filter, "a/#"])]));
    const properties = { contentType: name, userProperties: [[name, "v"]] };
    const packet = { kind: "publish", topic: name, payload: filter, qos: 1, id: 1 + random(65_535), properties };
    const bytes = answer(() => Array.from(mqtt.encode(packet, 4 + (step % 2))));
    const changed = Uint8Array.from(JSON.parse(bytes).length > 0 ? JSON.parse(bytes) : [0]);
    changed[random(changed.length)] = random(256);
    answers.push(bytes, answer(() => mqtt.decode(changed, { version: 4 + (step % 2) })));
  }
  return Array.from(hash(new TextEncoder().encode(answers.join("\n"))), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function answer(ask) {
  try {
    return JSON.stringify(ask());
  } catch (error) {
    if (!(error instanceof WardgateError)) throw error;
    return JSON.stringify(`${error.code} ${error.offset} ${error.reason}`);
  }
}

function mustBe(what, found, expected) {
  const [one, other] = [found, expected].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`MQTT, ${what}: expected ${other}, found ${one}`);
}
