// Packets to bytes and back: examples, generated packets beside the codec of others, faults, and
// bytes that are no packets.

import { generate as generateByOthers, parser as parserOfOthers, type Packet as OtherPacket } from "mqtt-packet";
import { beforeAll, describe, expect, it } from "vitest";

import { WardgateError } from "../base/errors.ts";
import { thrownBy } from "../testing.ts";
import { mqtt, type Decoded, type Packet, type PacketToEncode, type Properties, type Version } from "./mqtt.ts";

beforeAll(() => mqtt.load());

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const none = {};
const versions: readonly Version[] = [4, 5];

/** Bytes with text between quotes, as in `"30 03 00 01 'a'"`. */
function frame(text: string): Uint8Array {
  const parts = text.match(/'[^']*'|[0-9a-f]{2}/g) ?? [];
  return Uint8Array.from(parts.flatMap((part) => (part.startsWith("'") ? [...utf8(part.slice(1, -1))] : [Number.parseInt(part, 16)])));
}

function decoded(bytes: Uint8Array, version: Version, limits = {}): Packet | number {
  const found: Decoded = mqtt.decode(bytes, { version, limits });
  if (found.kind === "more") return found.least;
  expect(found.used).toBe(bytes.length);
  return found.packet;
}

/** Returns code, offset and reason code of the error that a call throws. */
function refused(act: () => unknown): unknown {
  const thrown = thrownBy(act);
  return thrown instanceof WardgateError ? [thrown.code, thrown.offset, thrown.reason] : thrown;
}

describe("a packet", () => {
  it.each<[version: Version, bytes: string, packet: Packet]>([
    [4, "10 10 00 04 'MQTT' 04 02 00 3c 00 04 'test'", { kind: "connect", version: 4, cleanStart: true, keepAlive: 60, clientId: "test", userName: undefined, password: undefined, will: undefined, properties: none }],
    [5, "10 31 00 04 'MQTT' 05 ee 00 0a 05 11 00 00 00 78 00 02 'id' 05 18 00 00 00 05 00 04 'last' 00 03 'bye' 00 04 'user' 00 04 'pass'", {
      kind: "connect", version: 5, cleanStart: true, keepAlive: 10, clientId: "id", userName: "user", password: utf8("pass"),
      will: { topic: "last", payload: utf8("bye"), qos: 1, retain: true, properties: { willDelayInterval: 5 } },
      properties: { sessionExpiryInterval: 120 },
    }],
    [4, "20 02 01 00", { kind: "connack", sessionPresent: true, reason: 0, properties: none }],
    [5, "20 08 00 87 05 1f 00 02 'no'", { kind: "connack", sessionPresent: false, reason: 0x87, properties: { reasonString: "no" } }],
    [4, "30 05 00 03 'a/b'", { kind: "publish", topic: "a/b", payload: utf8(""), qos: 0, retain: false, dup: false, id: undefined, properties: none }],
    [4, "3d 08 00 01 'a' 01 02 'xyz'", { kind: "publish", topic: "a", payload: utf8("xyz"), qos: 2, retain: true, dup: true, id: 258, properties: none }],
    [5, "30 08 00 00 03 23 00 07 'hi'", { kind: "publish", topic: undefined, payload: utf8("hi"), qos: 0, retain: false, dup: false, id: undefined, properties: { topicAlias: 7 } }],
    [4, "40 02 00 01", { kind: "puback", id: 1, reason: 0, properties: none }],
    [5, "50 03 00 01 87", { kind: "pubrec", id: 1, reason: 0x87, properties: none }],
    [5, "62 09 00 01 92 05 1f 00 02 'id'", { kind: "pubrel", id: 1, reason: 0x92, properties: { reasonString: "id" } }],
    [4, "70 02 ff ff", { kind: "pubcomp", id: 65_535, reason: 0, properties: none }],
    [4, "82 08 00 01 00 03 'a/+' 01", { kind: "subscribe", id: 1, subscriptions: [{ filter: "a/+", qos: 1, noLocal: false, retainAsPublished: false, retainHandling: 0 }], properties: none }],
    [5, "82 17 00 01 02 0b 05 00 01 '#' 2c 00 0b '$share/g/+/' 00", {
      kind: "subscribe", id: 1, properties: { subscriptionIdentifiers: [5] }, subscriptions: [
        { filter: "#", qos: 0, noLocal: true, retainAsPublished: true, retainHandling: 2 },
        { filter: "$share/g/+/", qos: 0, noLocal: false, retainAsPublished: false, retainHandling: 0 },
      ],
    }],
    [4, "90 04 00 01 02 80", { kind: "suback", id: 1, reasons: [2, 0x80], properties: none }],
    [4, "a2 08 00 01 00 01 'a' 00 01 '#'", { kind: "unsubscribe", id: 1, filters: ["a", "#"], properties: none }],
    [4, "b0 02 00 01", { kind: "unsuback", id: 1, reasons: [], properties: none }],
    [5, "b0 04 00 01 00 11", { kind: "unsuback", id: 1, reasons: [0x11], properties: none }],
    [4, "c0 00", { kind: "pingreq" }],
    [5, "d0 00", { kind: "pingresp" }],
    [5, "e0 00", { kind: "disconnect", reason: 0, properties: none }],
    [5, "e0 01 8e", { kind: "disconnect", reason: 0x8e, properties: none }],
    [5, "f0 09 18 07 15 00 01 'm' 16 00 00", { kind: "auth", reason: 0x18, properties: { authenticationMethod: "m", authenticationData: utf8("") } }],
  ])("of version %d is %s", (version, text, packet) => {
    const bytes = frame(text);
    expect(decoded(bytes, version)).toEqual(packet);
    expect(mqtt.encode(packet, version)).toEqual(bytes);
    const target = new Uint8Array(bytes.length + 4).fill(0xee);
    expect(mqtt.encodeInto(packet, version, target, 3)).toBe(bytes.length);
    expect([...target]).toEqual([0xee, 0xee, 0xee, ...bytes, 0xee]);
  });

  it("has each property as it was", () => {
    const all: Properties = {
      payloadFormatIndicator: true, messageExpiryInterval: 4_294_967_295, contentType: "text/plain", responseTopic: "a/b",
      correlationData: utf8("data"), subscriptionIdentifiers: [1, 200, 268_435_455], topicAlias: 65_535,
      userProperties: [["name", "one"], ["other", ""], ["name", "two"]],
    };
    const connack: Properties = {
      sessionExpiryInterval: 1, assignedClientIdentifier: "id", serverKeepAlive: 2, authenticationMethod: "m", authenticationData: utf8("d"),
      responseInformation: "r", serverReference: "s", reasonString: "why", receiveMaximum: 3, topicAliasMaximum: 4, maximumQos: 1,
      retainAvailable: false, maximumPacketSize: 5, wildcardSubscriptionAvailable: true, subscriptionIdentifierAvailable: false, sharedSubscriptionAvailable: true,
    };
    const connect: Properties = { requestProblemInformation: false, requestResponseInformation: true };
    const packets: PacketToEncode[] = [
      { kind: "publish", topic: "t", properties: all },
      { kind: "connack", properties: connack },
      { kind: "connect", version: 5, clientId: "", properties: connect },
    ];
    for (const packet of packets) expect(decoded(mqtt.encode(packet, 5), 5)).toMatchObject(packet);
  });

  it("has its bytes as views, and may be followed by others", () => {
    const bytes = frame("ff 30 06 00 01 'a' 'xyz' c0 00").subarray(1);
    const found = mqtt.decode(bytes, { version: 4 });
    expect(found).toMatchObject({ kind: "whole", used: 8, packet: { payload: utf8("xyz") } });
    bytes[5] = 0x7a;
    expect(found).toMatchObject({ packet: { payload: utf8("zyz") } });
    expect(mqtt.decode(bytes.subarray(8), { version: 4 })).toEqual({ kind: "whole", packet: { kind: "pingreq" }, used: 2 });
    const { buffer } = frame("c0 00");
    expect(mqtt.decode(buffer as ArrayBuffer, { version: 4 })).toMatchObject({ packet: { kind: "pingreq" } });
  });

  it("is asked for until it is there", () => {
    for (const size of [0, 1, 122, 123, 124, 16_378, 16_379, 70_000]) {
      const bytes = mqtt.encode({ kind: "publish", topic: "a/b", payload: "x".repeat(size) }, 4);
      for (let length = 0; length < bytes.length; length += length < 12 ? 1 : 997) {
        const least = decoded(bytes.subarray(0, length), 4);
        expect([typeof least, Number(least) > length && Number(least) <= bytes.length]).toEqual(["number", true]);
      }
      expect(decoded(bytes, 4)).toMatchObject({ kind: "publish", payload: utf8("x".repeat(size)) });
    }
  });

  it("has any Unicode, and U+FEFF at the front", () => {
    for (const text of ["ü/温度/🌡", "\uFEFFa", "a".repeat(100), "ü".repeat(100)]) {
      expect(decoded(mqtt.encode({ kind: "publish", topic: text, payload: text }, 5), 5)).toMatchObject({ topic: text, payload: utf8(text) });
    }
  });

  it("leaves out what 3.1.1 does not have", () => {
    const reasonString = "why";
    expect(mqtt.encode({ kind: "puback", id: 1, reason: 0x87, properties: { reasonString } }, 4)).toEqual(frame("40 02 00 01"));
    expect(mqtt.encode({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a", qos: 1, noLocal: true }] }, 4)).toEqual(frame("82 06 00 01 00 01 'a' 01"));
    expect(mqtt.encode({ kind: "unsuback", id: 1, reasons: [0] }, 4)).toEqual(frame("b0 02 00 01"));
    expect(mqtt.encode({ kind: "disconnect", reason: 4 }, 4)).toEqual(frame("e0 00"));
    expect(refused(() => mqtt.encode({ kind: "auth" }, 4))).toEqual(["protocol-error", undefined, undefined]);
  });
});

describe("generated packets", () => {
  it.each(versions)("of version %d come back, and others read and write the same", (version) => {
    const random = randomFrom(version);
    for (let step = 0; step < 1000; step += 1) {
      const packet = randomPacket(random, version);
      const bytes = mqtt.encode(packet, version);
      const read = decoded(bytes, version);
      expect(read).toMatchObject(packet);
      expect(mqtt.encode(read as Packet, version)).toEqual(bytes);
      const other = forOthers(packet);
      const written = generateByOthers(other, { protocolVersion: version });
      expect(readByOthers(bytes, version)).toEqual(readByOthers(written, version));
      expect(decoded(new Uint8Array(written), version)).toEqual(read);
    }
  });
});

describe("bytes that are no packet", () => {
  it.each<[version: Version, bytes: string, code: string, offset: number, reason: number]>([
    [4, "00 00", "malformed-packet", 0, 0x81],
    [4, "f0 00", "malformed-packet", 0, 0x81],
    [4, "c1 00", "malformed-packet", 0, 0x81],
    [4, "36 00", "malformed-packet", 0, 0x81],
    [4, "30 80 80 80 80 01", "malformed-packet", 1, 0x81],
    [4, "30 80 00", "malformed-packet", 1, 0x81],
    [4, "c0 01 00", "malformed-packet", 2, 0x81],
    [4, "30 03 00 02 'a'", "malformed-packet", 4, 0x81],
    [4, "30 04 00 02 c0 80", "malformed-packet", 4, 0x81],
    [4, "30 03 00 01 '+'", "invalid-topic", 4, 0x90],
    [4, "32 05 00 01 'a' 00 00", "protocol-error", 5, 0x82],
    [4, "82 06 00 01 00 01 '#' 03", "malformed-packet", 7, 0x81],
    [4, "82 07 00 01 00 02 '#a' 00", "invalid-filter", 6, 0x8f],
    [4, "82 02 00 01", "protocol-error", 4, 0x82],
    [5, "30 04 00 01 'a' 05", "malformed-packet", 6, 0x81],
    [5, "30 06 00 00 03 23 00 00", "protocol-error", 5, 0x94],
    [4, "10 0c 00 04 'MQTT' 03 02 00 00 00 00", "protocol-error", 8, 0x84],
    [4, "10 0c 00 04 'MQTT' 04 00 00 00 00 00", "protocol-error", 12, 0x85],
    [4, "10 ff 7f", "too-large", 1, 0x95],
    [4, "30 ff ff ff 7f", "too-large", 1, 0x95],
  ])("in version %d: %s", (version, text, code, offset, reason) => {
    expect(refused(() => mqtt.decode(frame(text), { version }))).toEqual([code, offset, reason]);
  });

  it("never make a fault of the module", () => {
    const random = randomFrom(3);
    for (let step = 0; step < 10_000; step += 1) {
      const version = versions[step % 2]!;
      const bytes = step % 3 === 0 ? Uint8Array.from({ length: random(40) }, () => random(256)) : mqtt.encode(randomPacket(random, version), version);
      if (bytes.length > 0) bytes[random(bytes.length)] = random(256);
      const thrown = thrownBy(() => mqtt.decode(bytes, { version }));
      if (thrown !== undefined) expect((thrown as WardgateError).reason, String(thrown)).toBeGreaterThan(0x80);
    }
  });
});

describe("limits", () => {
  const publish = mqtt.encode.bind(mqtt, { kind: "publish", topic: "a/b/c", payload: "x".repeat(100) });

  it("refuse what is larger, by the first bytes", () => {
    const bytes = publish(4);
    expect(refused(() => decoded(bytes.subarray(0, 5), 4, { packetBytes: bytes.length - 1 }))).toEqual(["too-large", 1, 0x95]);
    expect(decoded(bytes, 4, { packetBytes: bytes.length })).toMatchObject({ topic: "a/b/c" });
    expect(refused(() => decoded(bytes, 4, { topicLevels: 2 }))).toEqual(["invalid-topic", 4, 0x90]);
    expect(refused(() => decoded(bytes, 4, { topicBytes: 4 }))).toEqual(["invalid-topic", 4, 0x90]);
    expect(decoded(bytes, 4)).toMatchObject({ topic: "a/b/c" });
  });

  it("are those of each call", () => {
    const subscribe = mqtt.encode({ kind: "subscribe", id: 1, subscriptions: Array.from({ length: 65 }, (_, at) => ({ filter: `f${at}` })) }, 5);
    const user = mqtt.encode({ kind: "puback", id: 1, properties: { userProperties: Array.from({ length: 33 }, () => ["n", "v"] as const) } }, 5);
    for (let time = 0; time < 2; time += 1) {
      expect(refused(() => decoded(subscribe, 5))).toMatchObject(["protocol-error", expect.any(Number), 0x97]);
      expect(decoded(subscribe, 5, { filters: 65 })).toMatchObject({ kind: "subscribe" });
      expect(refused(() => decoded(user, 5))).toMatchObject(["protocol-error", expect.any(Number), 0x97]);
      expect(decoded(user, 5, { userProperties: 33 })).toMatchObject({ kind: "puback" });
      expect(refused(() => decoded(user, 5, { userProperties: 33, userPropertyBytes: 65 }))).toMatchObject(["protocol-error", expect.any(Number), 0x97]);
    }
  });

  it("have known names and possible values", () => {
    for (const limits of [{ packetByte: 1 }, { filters: "1" }, 1, null]) expect(thrownBy(() => decoded(publish(4), 4, limits as object))).toBeInstanceOf(TypeError);
    for (const limits of [{ filters: -1 }, { filters: 1.5 }, { topicLevels: 129 }, { packetBytes: 2 ** 32 }]) expect(thrownBy(() => decoded(publish(4), 4, limits))).toBeInstanceOf(RangeError);
    for (const options of [undefined, { version: 4, limit: {} }]) expect(thrownBy(() => mqtt.decode(publish(4), options as never))).toBeInstanceOf(TypeError);
    for (const version of [3, "5", undefined]) {
      expect(thrownBy(() => mqtt.decode(publish(4), { version } as never))).toBeInstanceOf(RangeError);
      expect(thrownBy(() => mqtt.encode({ kind: "pingreq" }, version as never))).toBeInstanceOf(RangeError);
    }
    for (const bytes of ["", [], undefined]) expect(thrownBy(() => mqtt.decode(bytes as never, { version: 4 }))).toBeInstanceOf(TypeError);
  });

  it("do not hold for what a program encodes", () => {
    const large = { kind: "publish", topic: "l/".repeat(60), payload: new Uint8Array(1_000_000).fill(7) } as const;
    const bytes = mqtt.encode(large, 5);
    const { payload, ...head } = decoded(bytes, 5, { packetBytes: bytes.length, topicLevels: 61 }) as Packet & { kind: "publish" };
    expect(head).toEqual({ kind: "publish", topic: large.topic, qos: 0, retain: false, dup: false, id: undefined, properties: none });
    expect(Buffer.compare(payload, large.payload)).toBe(0);
    expect(mqtt.matches("a", "a")).toBe(true);
  });
});

describe("a packet that would be refused", () => {
  it.each<[packet: unknown, code: string, reason: number]>([
    [{ kind: "publish", topic: "a/+" }, "invalid-topic", 0x90],
    [{ kind: "publish", topic: "a\u0000" }, "malformed-packet", 0x81],
    [{ kind: "publish" }, "protocol-error", 0x82],
    [{ kind: "publish", topic: "a", dup: true }, "malformed-packet", 0x81],
    [{ kind: "publish", topic: "a", qos: 1, id: 0 }, "protocol-error", 0x82],
    [{ kind: "publish", topic: "a", properties: { receiveMaximum: 1 } }, "malformed-packet", 0x81],
    [{ kind: "publish", topic: "a", properties: { topicAlias: 0 } }, "protocol-error", 0x94],
    [{ kind: "subscribe", id: 1, subscriptions: [] }, "protocol-error", 0x82],
    [{ kind: "subscribe", id: 1, subscriptions: [{ filter: "a#" }] }, "invalid-filter", 0x8f],
    [{ kind: "subscribe", id: 1, subscriptions: [{ filter: "$share/g/a", noLocal: true }] }, "protocol-error", 0x82],
    [{ kind: "connack", reason: 7 }, "protocol-error", 0x82],
    [{ kind: "auth", reason: 0x18 }, "malformed-packet", 0x81],
  ])("%j is not encoded", (packet, code, reason) => {
    const target = new Uint8Array(64);
    for (const act of [() => mqtt.encode(packet as PacketToEncode, 5), () => mqtt.encodeInto(packet as PacketToEncode, 5, target)]) {
      expect(refused(act)).toEqual([code, expect.any(Number), reason]);
    }
    expect(target).toEqual(new Uint8Array(64));
  });

  it.each<[packet: unknown, error: unknown]>([
    [undefined, TypeError],
    [{}, TypeError],
    [{ kind: "constructor" }, TypeError],
    [{ kind: "publish", topic: 1 }, TypeError],
    [{ kind: "publish", topic: "a", payload: 1 }, TypeError],
    [{ kind: "publish", topic: "a", retain: 1 }, TypeError],
    [{ kind: "publish", topic: "a", qos: 3 }, RangeError],
    [{ kind: "publish", topic: "a", qos: 1 }, TypeError],
    [{ kind: "publish", topic: "a", qos: 1, id: 65_537 }, RangeError],
    [{ kind: "publish", topic: "a", qos: 0, id: 1 }, RangeError],
    [{ kind: "publish", topic: "\ud800" }, RangeError],
    [{ kind: "publish", topic: "a".repeat(65_536) }, RangeError],
    [{ kind: "publish", topic: "a", properties: { unknown: 1 } }, TypeError],
    [{ kind: "publish", topic: "a", properties: [] }, TypeError],
    [{ kind: "publish", topic: "a", properties: { userProperties: [["a"]] } }, TypeError],
    [{ kind: "publish", topic: "a", properties: { messageExpiryInterval: 2 ** 32 } }, RangeError],
    [{ kind: "subscribe", id: 1, subscriptions: "a" }, TypeError],
    [{ kind: "connect", version: 3, clientId: "" }, RangeError],
  ])("%j is an error of the caller", (packet, error) => {
    expect(thrownBy(() => mqtt.encode(packet as PacketToEncode, 5))).toBeInstanceOf(error);
    expect(mqtt.encode({ kind: "pingreq" }, 5)).toEqual(frame("c0 00"));
  });

  it("does not fit into a small target, which is unchanged", () => {
    const target = new Uint8Array(6);
    const packet = { kind: "publish", topic: "a/b" } as const;
    expect(thrownBy(() => mqtt.encodeInto(packet, 4, target))).toBeInstanceOf(RangeError);
    expect(thrownBy(() => mqtt.encodeInto(packet, 4, new Uint8Array(9), 3))).toBeInstanceOf(RangeError);
    for (const at of [-1, 0.5, 7]) expect(thrownBy(() => mqtt.encodeInto(packet, 4, target, at))).toBeInstanceOf(RangeError);
    expect(target).toEqual(new Uint8Array(6));
  });

  it("may have getters, which cannot mix two packets", () => {
    const nested = { kind: "publish", topic: "a", get payload() { return mqtt.encode({ kind: "publish", topic: "other" }, 4); } } as const;
    const asking = { kind: "publish", topic: "a", get retain(): boolean { return mqtt.matches("a", "a"); } } as const;
    for (const packet of [nested, asking]) {
      expect(thrownBy(() => mqtt.encode(packet, 4))).toBeInstanceOf(TypeError);
      expect(mqtt.matches("a", "a")).toBe(true);
    }
  });
});

type Random = (most: number) => number;

/** Returns a source of numbers below `most`: the same ones for each seed. */
function randomFrom(seed: number): Random {
  let state = seed + 12_345;
  return (most) => (state = (state * 48_271) % 2_147_483_647) % most;
}

function randomPacket(random: Random, version: Version): PacketToEncode {
  const word = (): string => ["a", "b/c", "ü", "long-word".repeat(random(12) + 1)][random(4)]!;
  const id = 1 + random(65_535);
  const bytes = (): Uint8Array => Uint8Array.from({ length: random(4) === 0 ? random(300) : random(8) }, () => random(256));
  const user = { userProperties: Array.from({ length: 1 + random(3) }, (): [string, string] => [word(), word()]) };
  // The other codec writes equal names one after the other.
  user.userProperties.sort(([left], [right]) => Number(left > right) - Number(left < right));
  const own = (properties: Properties): { properties: Properties } => ({ properties: version === 4 || random(3) === 0 ? {} : properties });
  switch (random(9)) {
    case 0: {
      const will = { topic: word(), payload: bytes(), qos: random(3) as 0 | 1 | 2, retain: random(2) === 0, ...own({ willDelayInterval: id, ...user }) };
      const names = { userName: word(), password: bytes() };
      return { kind: "connect", version, cleanStart: true, keepAlive: id, clientId: word(), ...(random(2) === 0 && { will }), ...(random(2) === 0 && names), ...own({ sessionExpiryInterval: id, receiveMaximum: id, ...user }) };
    }
    case 1:
      return { kind: "connack", sessionPresent: random(2) === 0, reason: 0, ...own({ serverKeepAlive: id, maximumQos: 1, retainAvailable: false, reasonString: word() }) };
    case 2: {
      const filters = Array.from({ length: 1 + random(4) }, () => `${word()}/+/#`);
      const subscriptions = filters.map((filter) => ({ filter, qos: random(3) as 0 | 1 | 2, ...(version === 5 && { noLocal: random(2) === 0, retainAsPublished: random(2) === 0, retainHandling: random(3) as 0 | 1 | 2 }) }));
      return { kind: "subscribe", id, subscriptions, ...own({ subscriptionIdentifiers: [1 + random(300_000)], ...user }) };
    }
    case 3:
      return { kind: "suback", id, reasons: Array.from({ length: 1 + random(4) }, () => [0, 1, 2, 0x80][random(4)]!), ...own(user) };
    case 4:
      return { kind: "unsubscribe", id, filters: Array.from({ length: 1 + random(4) }, word), ...own(user) };
    case 5:
      return { kind: (["puback", "pubrec", "pubrel", "pubcomp"] as const)[random(4)]!, id, reason: 0, ...own({ reasonString: word(), ...user }) };
    case 6:
      return random(2) === 0 ? { kind: "pingreq" } : { kind: "pingresp" };
    case 7:
      return { kind: "disconnect", reason: version === 5 ? [0, 4, 0x8e][random(3)]! : 0, ...own(user) };
    default: {
      const qos = random(3) as 0 | 1 | 2;
      const properties = { payloadFormatIndicator: true, contentType: word(), correlationData: bytes(), subscriptionIdentifiers: [1 + random(9), 200], topicAlias: id, ...user };
      return { kind: "publish", topic: word(), payload: bytes(), qos, retain: random(2) === 0, dup: qos > 0 && random(2) === 0, ...(qos > 0 && { id }), ...own(properties) };
    }
  }
}

function readByOthers(bytes: Uint8Array, version: Version): unknown {
  const found: unknown[] = [];
  const parser = parserOfOthers({ protocolVersion: version });
  parser.on("packet", (packet: unknown) => found.push(packet));
  parser.on("error", (error: unknown) => found.push(error));
  parser.parse(Buffer.from(bytes));
  // A reason code or properties may be left out at the end, which changes no meaning.
  return found.map((packet) => ({ ...(packet as object), length: undefined }));
}

/** Returns a packet in the form of the other codec. */
function forOthers(packet: PacketToEncode): OtherPacket {
  const { kind: cmd, ...rest } = packet as { kind: string } & Record<string, unknown>;
  const { id, properties, will, version, cleanStart, keepAlive, userName, password, reason, reasons, subscriptions, filters, payload, ...same } = rest;
  const bytes = (value: unknown): Buffer => Buffer.from(value as Uint8Array);
  return {
    cmd,
    ...same,
    ...(id !== undefined && { messageId: id }),
    ...(payload !== undefined && { payload: bytes(payload) }),
    ...(Object.keys(properties ?? {}).length > 0 && { properties: propertiesForOthers(properties as Properties) }),
    ...(version !== undefined && { protocolId: "MQTT", protocolVersion: version, clean: cleanStart, keepalive: keepAlive }),
    ...(userName !== undefined && { username: userName, password: bytes(password) }),
    ...(will !== undefined && { will: { ...(will as object), payload: bytes((will as { payload: Uint8Array }).payload), properties: propertiesForOthers((will as { properties: Properties }).properties) } }),
    ...(reason !== undefined && { reasonCode: reason, returnCode: reason }),
    ...(reasons !== undefined && { granted: reasons }),
    ...(subscriptions !== undefined && { subscriptions: (subscriptions as Record<string, unknown>[]).map(({ filter, qos, noLocal, retainAsPublished, retainHandling }) => ({ topic: filter, qos, nl: noLocal, rap: retainAsPublished, rh: retainHandling })) }),
    ...(filters !== undefined && { unsubscriptions: filters }),
  } as unknown as OtherPacket;
}

function propertiesForOthers(properties: Properties): object {
  const { userProperties, subscriptionIdentifiers, correlationData, maximumQos, ...same } = properties;
  const users: Record<string, string | string[]> = {};
  for (const [name, value] of userProperties ?? []) {
    const before = users[name];
    users[name] = before === undefined ? value : [before, value].flat();
  }
  return {
    ...same,
    ...(userProperties !== undefined && { userProperties: users }),
    ...(subscriptionIdentifiers !== undefined && { subscriptionIdentifier: subscriptionIdentifiers.length === 1 ? subscriptionIdentifiers[0] : subscriptionIdentifiers }),
    ...(correlationData !== undefined && { correlationData: Buffer.from(correlationData) }),
    ...(maximumQos !== undefined && { maximumQoS: maximumQos }),
  };
}
