// Gates between a client and a broker: what policies allow passes as it came, the gate answers for
// the rest, and whatever fails denies.

import { beforeAll, beforeEach, afterEach, describe, expect, it } from "vitest";

import { WardgateError } from "../base/errors.ts";
import { openSync } from "../pdp/open.ts";
import type { AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";
import { fixture, thrownBy } from "../testing.ts";
import { mqtt, type Gate, type GateOptions, type Packet, type PacketToEncode, type Steps, type Version } from "./mqtt.ts";

const principal: Principal = { id: "ada", roles: ["device"], attr: { team: "blue" } };
const policies = fixture("mqtt.bundle");
const closed = fixture("closed.bundle");

let pdp: Pdp;
let now = 0;
beforeAll(() => mqtt.load());
beforeEach(() => {
  pdp = openSync(policies, { trust: "unsigned" });
  now = 1000;
});
afterEach(() => pdp.dispose());

const versions: readonly Version[] = [4, 5];
const bytesOf = (version: Version, ...packets: PacketToEncode[]): Uint8Array => Buffer.concat(packets.map((packet) => mqtt.encode(packet, version)));
const connectOf = (version: Version, more = {}): PacketToEncode => ({ kind: "connect", version, clientId: "c1", keepAlive: 60, ...more });

/** Returns the packets in some bytes. */
function packetsIn(bytes: Uint8Array, version: Version): Packet[] {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = mqtt.decode(bytes.subarray(at), { version });
    if (found.kind === "more") throw new Error("half a packet");
    packets.push(found.packet);
    at += found.used;
  }
  return packets;
}

function gateOf(more: Partial<GateOptions> = {}): Gate {
  return mqtt.gate(pdp, { principal, clock: () => now, ...more });
}

/** Makes a gate whose client the broker has accepted. */
function openGate(version: Version, more: Partial<GateOptions> = {}, connack = {}): Gate {
  const gate = gateOf(more);
  expect(gate.fromClient(bytesOf(version, connectOf(version))).close).toBe(undefined);
  expect(gate.fromServer(bytesOf(version, { kind: "connack", ...connack })).close).toBe(undefined);
  return gate;
}

const nothing: Steps = { forward: new Uint8Array(), reply: new Uint8Array(), close: undefined, errors: [] };

describe.each(versions)("in version %d", (version) => {
  it("what is allowed passes as it came", () => {
    const gate = gateOf();
    const connect = bytesOf(version, connectOf(version));
    const forwarded = gate.fromClient(connect);
    expect(packetsIn(forwarded.forward, version)).toMatchObject([{ kind: "connect", clientId: "c1" }]);
    if (version === 4) expect(forwarded).toEqual({ ...nothing, forward: connect });
    const connack = bytesOf(version, { kind: "connack" });
    expect(packetsIn(gate.fromServer(connack).reply, version)).toMatchObject([{ kind: "connack", reason: 0 }]);
    const publish = bytesOf(version, { kind: "publish", topic: "a/b", payload: "hello", qos: 1, id: 7 }, { kind: "pingreq" });
    const passed = gate.fromClient(publish);
    expect(passed.forward).toBe(publish);
    expect([passed.reply.length, passed.close]).toEqual([0, undefined]);
    const back = bytesOf(version, { kind: "puback", id: 7 }, { kind: "pingresp" });
    expect(gate.fromServer(back)).toEqual({ ...nothing, reply: back });
  });

  it("bytes that another thread could change pass as a copy", () => {
    const publish = bytesOf(version, { kind: "publish", topic: "a/b" });
    const shared = new Uint8Array(new SharedArrayBuffer(publish.length));
    shared.set(publish);
    const { forward } = openGate(version).fromClient(shared);
    shared.fill(0);
    expect(Buffer.compare(forward, publish)).toBe(0);
  });

  it("packets may come bit by bit", () => {
    const gate = openGate(version);
    const bytes = bytesOf(version, { kind: "publish", topic: "a", payload: "one" }, { kind: "publish", topic: "b", payload: "two" });
    const parts = Array.from(bytes, (_, at) => gate.fromClient(bytes.subarray(at, at + 1)).forward);
    expect(Buffer.compare(Buffer.concat(parts), bytes)).toBe(0);
  });

  it("a denied filter alone is denied", () => {
    const gate = openGate(version);
    // `a/#` has a secret, `#` more than is allowed, and `d` is asked for with QoS 2 and as a shared one.
    const filters = ["a/b/#", "a/#", "#", "devices/c1/+", "devices/c2/+", "d", "$share/g/d", "d"];
    const subscriptions = filters.map((filter, at) => ({ filter, qos: at === 5 ? 2 : 1 }) as const);
    const asked = gate.fromClient(bytesOf(version, { kind: "subscribe", id: 3, subscriptions }));
    const allowed = [0, 3, 7].map((at) => ({ filter: filters[at] }));
    expect(packetsIn(asked.forward, version)).toMatchObject([{ kind: "subscribe", subscriptions: allowed }]);
    const answered = gate.fromServer(bytesOf(version, { kind: "suback", id: 3, reasons: [1, 0, 1] }));
    const denied = version === 5 ? 0x87 : 0x80;
    expect(packetsIn(answered.reply, version)).toMatchObject([{ kind: "suback", id: 3, reasons: [1, denied, denied, 0, denied, denied, denied, 1] }]);
  });

  it("a client that may not connect is refused", () => {
    for (const more of [{ clientId: "banned" }, { keepAlive: 601 }, { will: { topic: "gone", qos: 1 } }]) {
      using gate = gateOf();
      const { forward, reply, close } = gate.fromClient(bytesOf(version, connectOf(version, more)));
      expect([forward.length, packetsIn(reply, version)]).toMatchObject([0, [{ kind: "connack", reason: version === 5 ? 0x87 : 5 }]]);
      expect(close).toMatchObject({ side: "client", reason: 0x87, isRegular: false });
      expect(gate.fromClient(bytesOf(version, { kind: "pingreq" }))).toEqual(nothing);
    }
  });

  it("bytes that are no packet close the connection", () => {
    const gate = openGate(version);
    const { forward, close } = gate.fromClient(Uint8Array.of(0x30, 3, 0, 1, 0x2b));
    expect(forward.length).toBe(0);
    expect(close).toMatchObject({ side: "client", reason: 0x90, message: expect.stringContaining("topic name"), offset: expect.any(Number) });
    const wrong = openGate(version).fromServer(Uint8Array.of(0, 0));
    expect(wrong.close).toMatchObject({ side: "broker", reason: 0x81 });
  });

  it("a withdrawn right ends the connection", () => {
    const gate = openGate(version);
    gate.fromClient(bytesOf(version, { kind: "subscribe", id: 3, subscriptions: [{ filter: "a/b" }] }));
    gate.fromServer(bytesOf(version, { kind: "suback", id: 3, reasons: [0] }));
    expect(gate.reconsider()).toEqual(nothing);
    pdp.reload(closed);
    const { reply, close } = gate.reconsider();
    expect(close).toMatchObject({ side: "gate", reason: 0x87, isRegular: false });
    expect(packetsIn(reply, version)).toMatchObject(version === 5 ? [{ kind: "disconnect", reason: 0x87 }] : []);
  });

  it("time ends waits", () => {
    const quiet = gateOf({ connectSeconds: 2 });
    expect(quiet.tick().close).toBe(undefined);
    now += 2000;
    expect(quiet.tick().close).toMatchObject({ side: "gate", message: expect.stringContaining("CONNECT") });
    const gate = openGate(version);
    gate.tick();
    now += 89_000;
    expect(gate.tick().close).toBe(undefined);
    now += 2000;
    expect(gate.tick().close).toMatchObject({ side: "gate", reason: 0x8d });
  });

  it("ends are told to the other side", () => {
    expect(openGate(version).fromClient(bytesOf(version, { kind: "disconnect" }))).toMatchObject({ forward: bytesOf(version, { kind: "disconnect" }), close: { side: "client", isRegular: true } });
    expect(openGate(version).serverLost().close).toMatchObject({ side: "broker", isRegular: true });
    expect(openGate(version).clientLost().close).toMatchObject({ side: "client", isRegular: true });
    expect(openGate(version).close(0x87)).toMatchObject({ close: { side: "gate", reason: 0x87 } });
  });
});

it("a denied PUBLISH is told in 5.0, and closes or is dropped in 3.1.1", () => {
  const denied: PacketToEncode = { kind: "publish", topic: "a", retain: true, qos: 1, id: 9 };
  expect(packetsIn(openGate(5).fromClient(bytesOf(5, denied)).reply, 5)).toMatchObject([{ kind: "puback", id: 9, reason: 0x87 }]);
  expect(openGate(4).fromClient(bytesOf(4, denied))).toMatchObject({ forward: nothing.forward, close: { reason: 0x87 } });
  const dropping = openGate(4, { denied: "drop" }).fromClient(bytesOf(4, denied));
  expect([dropping.forward.length, packetsIn(dropping.reply, 4), dropping.close]).toMatchObject([0, [{ kind: "puback", id: 9 }], undefined]);
  const secret = openGate(5).fromClient(bytesOf(5, { kind: "publish", topic: "a/secret/b", qos: 1, id: 9 }));
  expect([secret.forward.length, packetsIn(secret.reply, 5)]).toMatchObject([0, [{ kind: "puback", reason: 0x87 }]]);
  const quiet = openGate(5).fromClient(bytesOf(5, { kind: "publish", topic: "a", payload: new Uint8Array(101) }));
  expect(quiet).toEqual(nothing);
});

it("deliveries are decided where that is asked for, and in resumed sessions", () => {
  const large = bytesOf(4, { kind: "publish", topic: "a", payload: new Uint8Array(11) });
  const small = bytesOf(4, { kind: "publish", topic: "a", payload: new Uint8Array(10) });
  expect(openGate(4).fromServer(large).reply).toBe(large);
  for (const gate of [openGate(4, { deliver: "each" }), openGate(4, {}, { sessionPresent: true })]) {
    expect([gate.fromServer(large).reply.length, gate.fromServer(small).reply]).toEqual([0, small]);
  }
});

it("the broker gets no password, unless it is asked for", () => {
  const connect = bytesOf(5, connectOf(5, { userName: "ada", password: "secret" }));
  expect(packetsIn(gateOf().fromClient(connect).forward, 5)).toMatchObject([{ userName: "ada", password: undefined }]);
  expect(packetsIn(gateOf({ passPassword: true }).fromClient(connect).forward, 5)).toMatchObject([{ password: new TextEncoder().encode("secret") }]);
});

it("packets are bounded", () => {
  const gate = openGate(4, { maxPacketBytes: 1000 });
  expect(gate.fromClient(Uint8Array.of(0x30, 0xe8, 0x07)).close).toMatchObject({ reason: 0x95 });
  const few = openGate(4, { limits: { subscriptions: 1 } });
  few.fromClient(bytesOf(4, { kind: "subscribe", id: 1, subscriptions: [{ filter: "a" }] }));
  few.fromServer(bytesOf(4, { kind: "suback", id: 1, reasons: [0] }));
  const { forward, reply } = few.fromClient(bytesOf(4, { kind: "subscribe", id: 2, subscriptions: [{ filter: "d" }] }));
  expect([forward.length, packetsIn(reply, 4)]).toMatchObject([0, [{ kind: "suback", reasons: [0x80] }]]);
});

/** A question to a PDP. */
type Asked = readonly [action: string, resource: Resource];

/** Returns a PDP that allows everything and keeps what it was asked. */
function recording(): { pdp: Pick<Pdp, "for">; asked: Asked[]; known: [Principal, AuxData | undefined][] } {
  const asked: Asked[] = [];
  const known: [Principal, AuxData | undefined][] = [];
  const isAllowed = (action: string, resource: Resource): boolean => asked.push([action, resource]) > 0;
  const prepared = { isAllowed } as unknown as ReturnType<Pdp["for"]>;
  return { pdp: { for: (principal, auxData) => (known.push([principal, auxData]), prepared) }, asked, known };
}

describe("a decision is asked about", () => {
  it("everything that the packet says", () => {
    const { pdp, asked, known } = recording();
    const gate = mqtt.gate(pdp, { principal, auxData: { jwt: { sub: "ada" } }, deliver: "each" });
    const will = { topic: "gone", payload: "bye", qos: 2, retain: true, properties: { willDelayInterval: 3 } } as const;
    gate.fromClient(bytesOf(5, connectOf(5, { clientId: "", will, cleanStart: false })));
    gate.fromServer(bytesOf(5, { kind: "connack", properties: { assignedClientIdentifier: "made-up" } }));
    const userProperties = [["n", "1"], ["__proto__", "x"], ["n", "2"]] as const;
    gate.fromClient(bytesOf(5, { kind: "publish", topic: "ü/b", payload: "12345", qos: 1, id: 3, dup: true, properties: { contentType: "text", messageExpiryInterval: 9, userProperties } }));
    gate.fromClient(bytesOf(5, { kind: "subscribe", id: 4, subscriptions: [{ filter: "$share/g/a/#", qos: 1, retainAsPublished: true, retainHandling: 1 }] }));
    gate.fromClient(bytesOf(5, { kind: "unsubscribe", id: 5, filters: ["a/+"] }));
    gate.fromServer(bytesOf(5, { kind: "publish", topic: "t", retain: true }));
    const user = Object.fromEntries([["n", ["1", "2"]], ["__proto__", ["x"]]]);
    expect(asked).toEqual([
      ["connect", { kind: "mqtt:client", id: "", attr: { version: "5.0", cleanStart: false, keepAlive: 60, will: true } }],
      ["will", { kind: "mqtt:topic", id: "gone", attr: { topic: "gone", qos: 2, retain: true, dup: false, size: 3, version: "5.0", properties: { willDelayInterval: 3, user: {} } } }],
      ["publish", { kind: "mqtt:topic", id: "ü/b", attr: { topic: "ü/b", qos: 1, retain: false, dup: true, size: 5, version: "5.0", properties: { contentType: "text", messageExpiryInterval: 9, user } } }],
      ["subscribe", { kind: "mqtt:topic", id: "a/#", attr: { topic: { filter: "a/#" }, share: "g", qos: 1, noLocal: false, retainAsPublished: true, retainHandling: 1, version: "5.0" } }],
      ["unsubscribe", { kind: "mqtt:topic", id: "a/+", attr: { topic: { filter: "a/+" }, share: "", version: "5.0" } }],
      ["receive", { kind: "mqtt:topic", id: "t", attr: { topic: "t", qos: 0, retain: true, dup: false, size: 0, version: "5.0", properties: { user: {} } } }],
    ]);
    const attributes = known.map(([{ id, attr }, auxData]) => [id, attr, auxData]);
    expect(attributes).toEqual(["", "made-up"].map((clientId) => ["ada", { team: "blue", clientId }, { jwt: { sub: "ada" } }]));
  });

  it("the topic that an alias stands for", () => {
    const { pdp, asked } = recording();
    const gate = mqtt.gate(pdp, { principal });
    gate.fromClient(bytesOf(5, connectOf(5)));
    gate.fromServer(bytesOf(5, { kind: "connack", properties: { topicAliasMaximum: 5 } }));
    gate.fromClient(bytesOf(5, { kind: "publish", topic: "long/name", properties: { topicAlias: 2 } }));
    gate.fromClient(bytesOf(5, { kind: "publish", properties: { topicAlias: 2 } }));
    expect(asked.map(([action, { id }]) => [action, id])).toEqual([["connect", "c1"], ["publish", "long/name"], ["publish", "long/name"]]);
  });

  it("the principal that CONNECT proves", () => {
    const passwords: unknown[] = [];
    const identify: GateOptions["principal"] = (connect) => {
      passwords.push(connect.password);
      return connect.userName === "ada" ? principal : undefined;
    };
    const auxData: GateOptions["auxData"] = ({ clientId }) => ({ jwt: { clientId } });
    const { pdp, known } = recording();
    const known1 = mqtt.gate(pdp, { principal: identify, auxData }).fromClient(bytesOf(4, connectOf(4, { userName: "ada", password: "one" })));
    expect([known1.close, known[0]![1]]).toEqual([undefined, { jwt: { clientId: "c1" } }]);
    const unknown = mqtt.gate(pdp, { principal: identify }).fromClient(bytesOf(5, connectOf(5, { userName: "bo", password: "two" })));
    expect([packetsIn(unknown.reply, 5), unknown.close]).toMatchObject([[{ kind: "connack", reason: 0x86 }], { reason: 0x86 }]);
    // They stay what they were, whatever the module does later.
    expect(passwords).toEqual([new TextEncoder().encode("one"), new TextEncoder().encode("two")]);
  });
});

describe("what fails denies", () => {
  const broken = (act: () => unknown): Pick<Pdp, "for"> => ({ for: () => ({ isAllowed: act }) as unknown as ReturnType<Pdp["for"]> });

  it.each<[name: string, decide: () => unknown, errors: number]>([
    ["an exception", () => { throw new Error("no decision"); }, 1],
    ["a promise", () => Promise.resolve(true), 0],
    ["another value than true", () => 1, 0],
    ["a call of MQTT itself", () => mqtt.matches("a", "a"), 1],
  ])("%s", (_, decide, errors) => {
    const gate = mqtt.gate(broken(decide), { principal });
    const steps = gate.fromClient(bytesOf(5, connectOf(5)));
    expect([steps.forward.length, steps.close?.reason, steps.errors.length]).toEqual([0, 0x87, errors]);
    expect(mqtt.matches("a", "a")).toBe(true);
  });

  it("a PDP that was disposed, or a principal that is none", () => {
    const gate = openGate(5);
    pdp.dispose();
    const { forward, reply, errors } = gate.fromClient(bytesOf(5, { kind: "publish", topic: "a", qos: 1, id: 1 }));
    expect([forward.length, packetsIn(reply, 5), errors]).toMatchObject([0, [{ reason: 0x87 }], [{ code: "disposed" }]]);
    expect(gate.fromClient(bytesOf(5, { kind: "pingreq" })).errors).toEqual([]);
    for (const wrong of [() => ({}), () => null, async () => principal, () => { throw new Error("unknown"); }]) {
      const steps = gateOf({ principal: wrong as never }).fromClient(bytesOf(5, connectOf(5)));
      expect([steps.forward.length, steps.close?.reason, steps.errors.length]).toEqual([0, 0x87, 1]);
    }
  });

  it("options that are misspelt or impossible", () => {
    for (const more of [{ deny: "drop" }, { denied: 1 }, { principal: "ada" }, { principal: null }, { clock: 1 }, { limits: { packetBytes: 1 } }, { limits: { alias: 1 } }, { passPassword: "no" }]) {
      expect(thrownBy(() => gateOf(more as never)), JSON.stringify(more)).toBeInstanceOf(TypeError);
    }
    for (const more of [{ denied: "allow" }, { connectSeconds: -1 }, { maxPacketBytes: 2 ** 40 }, { clock: () => Number.NaN }]) {
      expect(thrownBy(() => gateOf(more as never)), JSON.stringify(more)).toBeInstanceOf(RangeError);
    }
    for (const given of [undefined, {}, { isAllowed: () => true }]) expect(thrownBy(() => mqtt.gate(given as never, { principal }))).toBeInstanceOf(TypeError);
    for (const reason of [0, 0x7f, 256, Number.NaN]) expect(thrownBy(() => openGate(5).close(reason))).toBeInstanceOf(RangeError);
    for (const bytes of ["", [1], undefined]) expect(thrownBy(() => openGate(5).fromClient(bytes as never))).toBeInstanceOf(TypeError);
  });

  it("a gate that was disposed", () => {
    const gate = openGate(5);
    gate.dispose();
    gate.dispose();
    for (const act of [() => gate.fromClient(new Uint8Array()), () => gate.tick(), () => gate.reconsider(), () => gate.clientLost()]) {
      const thrown = thrownBy(act);
      expect([thrown instanceof WardgateError, (thrown as WardgateError).code]).toEqual([true, "disposed"]);
    }
  });
});

it("many gates are apart", () => {
  const gates = Array.from({ length: 200 }, (_, at) => ({ at, gate: openGate(at % 2 === 0 ? 4 : 5), version: versions[at % 2]! }));
  for (const { at, gate, version } of gates) {
    const bytes = bytesOf(version, { kind: "publish", topic: `t/${at}`, payload: String(at) });
    gate.fromClient(bytes.subarray(0, 4));
    if (at % 3 === 0) gate.dispose();
  }
  for (const { at, gate, version } of gates.filter(({ at }) => at % 3 !== 0)) {
    const bytes = bytesOf(version, { kind: "publish", topic: `t/${at}`, payload: String(at) });
    expect(packetsIn(gate.fromClient(bytes.subarray(4)).forward, version)).toMatchObject([{ topic: `t/${at}` }]);
  }
});
