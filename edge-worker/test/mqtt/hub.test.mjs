// The hub: what its clients get, and what they do not.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { connect, HUB, Raw, refusal, settled, signed, start, subscribe, TOKEN, until } from "./testing.mjs";

let hub;
beforeAll(async () => {
  hub = await start(HUB);
});
afterAll(() => hub.stop());

/** Connects a client for one test, with a client id of its own. */
let count = 0;
async function client(options = {}) {
  count += 1;
  return connect(hub, { clientId: `client-${count}`, ...options });
}

const closing = (...clients) => Promise.all(clients.map((one) => one.endAsync(true)));

describe.each([4, 5])("in version %d", (version) => {
  const denied = version === 5 ? 0x87 : 0x80;

  it("messages reach those who subscribed, at QoS 0, in order", async () => {
    const [reader, other, writer] = [await client({ version }), await client({ version: 9 - version }), await client({ version })];
    expect(await subscribe(reader, "a/+/temperature", { qos: 2 })).toEqual([0]);
    expect(await subscribe(other, "a/#", { qos: 1 })).toEqual([0]);
    for (const [at, qos] of [0, 1, 0, 1].entries()) await writer.publishAsync("a/x/temperature", String(at), { qos });
    await writer.publishAsync("a/x/other", "z", { qos: 1 });
    await settled(other);
    expect(other.received.map(({ text }) => text)).toEqual(["0", "1", "2", "3", "z"]);
    expect(reader.received.map(({ text, qos, retain }) => [text, qos, retain])).toEqual(["0", "1", "2", "3"].map((text) => [text, 0, false]));
    await closing(reader, other, writer);
  });

  it("what is not allowed is refused", async () => {
    const [reader, writer] = [await client({ version }), await client({ version })];
    for (const filter of ["c", "#", "b/#", "b/secret/x", `own/${writer.options.clientId}/+`]) expect(await subscribe(reader, filter), filter).toEqual([denied]);
    for (const filter of ["a/#", "b/x/+", `own/${reader.options.clientId}/+`]) expect(await subscribe(reader, filter), filter).toEqual([0]);
    await reader.unsubscribeAsync("b/x/+");
    await writer.publishAsync("b/x/y", "after the end", { qos: 1 });
    await settled(reader);
    expect(reader.received).toEqual([]);
    if (version === 5) await expect(writer.publishAsync("c", "no", { qos: 1 })).rejects.toMatchObject({ code: 0x87 });
    else {
      writer.publish("c", "no", { qos: 1 });
      await writer.ended;
    }
    await closing(reader, writer);
  });

  it("of a group, one member gets each message in turn", async () => {
    const [one, two, alone, writer] = [await client({ version }), await client({ version }), await client({ version }), await client({ version })];
    for (const member of [one, two]) expect(await subscribe(member, "$share/g/a/#")).toEqual([0]);
    await subscribe(alone, "a/#");
    for (let at = 0; at < 6; at += 1) await writer.publishAsync(`a/${at}`, "x", { qos: 1 });
    await Promise.all([one, two, alone].map(settled));
    expect([one, two, alone].map(({ received }) => received.length)).toEqual([3, 3, 6]);
    expect([...one.topics(), ...two.topics()].sort()).toEqual(alone.topics());
    await one.endAsync();
    for (let at = 6; at < 8; at += 1) await writer.publishAsync(`a/${at}`, "x", { qos: 1 });
    await settled(two);
    expect(two.topics().slice(3)).toEqual(["a/6", "a/7"]);
    expect(await subscribe(two, "$share/g/c")).toEqual([denied]);
    await closing(two, alone, writer);
  });

  it("retained messages wait for subscribers", async () => {
    const writer = await client({ version });
    const topics = ["a/r", "a/r/1", "a/r/2", "a/rx", "b/r/1"].map((topic) => `${topic}v${version}`);
    for (const topic of topics) await writer.publishAsync(topic, topic, { qos: 1, retain: true });
    await writer.publishAsync(topics[1], "newer", { qos: 1, retain: true });
    await writer.publishAsync(topics[2], "", { qos: 1, retain: true });
    const reader = await client({ version });
    await subscribe(reader, `a/r/+`);
    await subscribe(reader, `a/rv${version}/#`);
    await subscribe(reader, topics[4]);
    await settled(reader);
    expect(reader.received.filter(({ topic }) => topic.endsWith(`v${version}`)).map(({ topic, text, retain }) => [topic, text, retain])).toEqual([
      [topics[1], "newer", true],
      [topics[0], topics[0], true],
      [topics[4], topics[4], true],
    ]);
    // What is published while the subscription is there is not a retained message for it.
    await writer.publishAsync(topics[1], "live", { qos: 1, retain: true });
    await settled(reader);
    expect(reader.received.at(-1)).toMatchObject({ text: "live", retain: false });
    for (const topic of topics) await writer.publishAsync(topic, "", { qos: 1, retain: true });
    const late = await client({ version });
    await subscribe(late, ["a/#", "b/r/#"]);
    await settled(late);
    expect(late.topics().filter((topic) => topic.endsWith(`v${version}`))).toEqual([]);
    await closing(writer, reader, late);
  });

  it("the will of a client that is lost is published, and of none that says goodbye", async () => {
    const watcher = await client({ version });
    await subscribe(watcher, "a/gone/#");
    const will = (name) => ({ will: { topic: `a/gone/${name}`, payload: name, qos: 1, retain: false } });
    const [lost, polite] = [await client({ version, ...will("lost") }), await client({ version, ...will("polite") })];
    lost.stream.destroy();
    await until(() => watcher.received.length > 0);
    await polite.endAsync();
    await settled(watcher);
    expect(watcher.topics()).toEqual(["a/gone/lost"]);
    expect(await refusal(hub, { version, clientId: "w", will: { topic: "c", payload: "", qos: 0, retain: false } })).toBe(version === 5 ? 0x87 : 5);
    await closing(watcher);
  });

  it("a client id is taken over by those who may have it", async () => {
    const watcher = await client({ version });
    await subscribe(watcher, "a/taken");
    const clientId = `same-${version}`;
    const first = await client({ version, clientId, will: { topic: "a/taken", payload: "x", qos: 0, retain: false } });
    expect(await refusal(hub, { version, clientId, password: "wrong" })).toBe(version === 5 ? 0x86 : 4);
    await settled(first);
    const second = await client({ version, clientId });
    if (version === 5) expect(await first.told).toBe(0x8e);
    await first.ended;
    await settled(watcher);
    expect(watcher.topics()).toEqual(["a/taken"]);
    await settled(second);
    await closing(watcher, second);
  });

  it("QoS 2 is refused", async () => {
    const one = await client({ version });
    if (version === 4) one.publish("a/x", "twice", { qos: 2 });
    else {
      const raw = await Raw.connected(hub, { version, connect: { clientId: "twice" } });
      raw.packet({ kind: "publish", topic: "a/x", qos: 2, id: 1 });
      expect(await raw.next()).toMatchObject({ kind: "disconnect", reason: 0x9b });
      expect(await raw.closed).toBe(1008);
      one.end(true);
    }
    await one.ended;
  });
});

describe("a client", () => {
  it("is identified by the password, and by nothing else", async () => {
    expect(await refusal(hub, { version: 5, password: undefined })).toBe(0x86);
    expect(await refusal(hub, { version: 4, password: undefined, username: undefined })).toBe(4);
    expect(await refusal(hub, { version: 5, password: `${TOKEN}x` })).toBe(0x86);
    expect(await refusal(hub, { version: 5, password: "\u0000\uffff" })).toBe(0x86);
    expect(await refusal(hub, { version: 5, password: signed({ exp: 1 }) })).toBe(0x86);
    expect(await refusal(hub, { version: 5, password: signed({ aud: "other" }) })).toBe(0x86);
    expect(await refusal(hub, { version: 5, clientId: "banned" })).toBe(0x87);
    expect(await refusal(hub, { version: 4, clientId: "banned" })).toBe(5);
    expect(await refusal(hub, { version: 4, password: signed({}) })).toBe("accepted");
    expect(await refusal(hub, { version: 5, password: signed({ roles: ["unknown"] }) })).toBe(0x87);
  });

  it("has the roles and the claims of its token", async () => {
    const operator = await client({ version: 5, password: signed({ roles: ["operator"], topics: ["ops/+"] }) });
    expect(await subscribe(operator, ["ops/+", "ops/#", "ops/x"])).toEqual([0, 0x87, 0]);
    await closing(operator);
  });

  it("that is anonymous is one only where that is configured", async () => {
    const open = await start({ ...HUB, vars: { MQTT_ANONYMOUS: "allow" } });
    expect(await refusal(open, { password: undefined, username: undefined })).toBe("accepted");
    expect(await refusal(open, { password: "wrong" })).toBe(4);
    await open.stop();
  });

  it("without an id gets one", async () => {
    const five = await Raw.open(hub, { version: 5 });
    five.packet({ kind: "connect", version: 5, clientId: "", userName: "any", password: TOKEN, properties: { sessionExpiryInterval: 60 } });
    const { properties } = await five.next();
    expect(properties).toMatchObject({ assignedClientIdentifier: expect.stringMatching(/^auto-[0-9a-f]{32}$/), maximumQos: 1, serverKeepAlive: 1200, sessionExpiryInterval: 0 });
    const filter = `own/${properties.assignedClientIdentifier}/x`;
    five.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter }, { filter: "own//x" }] });
    expect(await five.next()).toMatchObject({ kind: "suback", reasons: [0, 0x87] });
    five.socket.terminate();
    const four = await client({ clientId: "" });
    await closing(four);
  });
});

it("each delivery is decided where that is configured", async () => {
  const each = await start({ ...HUB, vars: { MQTT_DELIVER: "each" } });
  const client = await connect(each, { clientId: "each" });
  // The topics of `own` may be subscribed to, and no rule allows to receive them.
  await subscribe(client, ["own/each/x", "a/x"]);
  for (const topic of ["own/each/x", "a/x"]) await client.publishAsync(topic, "x", { qos: 1 });
  await settled(client);
  expect(client.topics()).toEqual(["a/x"]);
  await client.endAsync();
  await each.stop();
});

describe("in 5.0", () => {
  it("the options of subscriptions are kept", async () => {
    const raw = await Raw.connected(hub, { version: 5, connect: { clientId: "options" } });
    await new Promise((resolve) => setImmediate(resolve));
    raw.packet({ kind: "publish", topic: "a/o/kept", payload: "kept", retain: true });
    const ask = async (subscription, properties) => {
      raw.packet({ kind: "subscribe", id: 1, subscriptions: [subscription], properties });
      return (await raw.sofar()).map(({ kind, reasons, topic, retain, properties }) => ({ kind, reasons, topic, retain, identifiers: properties.subscriptionIdentifiers }));
    };
    const suback = { kind: "suback", reasons: [0] };
    const kept = { kind: "publish", topic: "a/o/kept", retain: true };
    expect(await ask({ filter: "a/o/+", retainHandling: 1 }, { subscriptionIdentifiers: [7] })).toMatchObject([suback, { ...kept, identifiers: [7] }]);
    expect(await ask({ filter: "a/o/+", retainHandling: 1 }, { subscriptionIdentifiers: [7] })).toMatchObject([suback]);
    expect(await ask({ filter: "a/o/#", retainHandling: 2, retainAsPublished: true }, { subscriptionIdentifiers: [8] })).toMatchObject([suback]);
    expect(await ask({ filter: "a/o/kept", noLocal: true })).toMatchObject([suback, { ...kept, identifiers: undefined }]);
    raw.packet({ kind: "publish", topic: "a/o/kept", payload: "again", retain: true });
    const [again, ...others] = await raw.sofar();
    // Once for all its subscriptions, one of which wants the flag as it was published.
    expect([again.retain, [...again.properties.subscriptionIdentifiers].sort(), others]).toEqual([true, [7, 8], []]);
    raw.packet({ kind: "publish", topic: "a/o/kept", retain: true });
    await raw.sofar();
    raw.socket.terminate();
  });

  it("properties go along, and the time that is left of a retained message", async () => {
    const [reader, writer] = [await Raw.connected(hub, { version: 5, connect: { clientId: "p1" } }), await Raw.connected(hub, { version: 5, connect: { clientId: "p2" } })];
    reader.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/p" }] });
    await reader.next();
    const properties = { contentType: "text", messageExpiryInterval: 1000, responseTopic: "r", correlationData: new Uint8Array([1]), userProperties: [["n", "1"], ["n", "2"]], payloadFormatIndicator: true };
    writer.packet({ kind: "publish", topic: "a/p", payload: "x", retain: true, properties });
    const live = await reader.next();
    expect({ ...live.properties, correlationData: [...live.properties.correlationData] }).toEqual({ ...properties, correlationData: [1] });
    writer.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/p" }] });
    const [, kept] = await writer.sofar();
    expect(kept.properties.messageExpiryInterval).toBeGreaterThan(900);
    writer.packet({ kind: "publish", topic: "a/p", retain: true });
    await writer.sofar();
    for (const raw of [reader, writer]) raw.socket.terminate();
  });

  it("a packet that its reader does not take is counted", async () => {
    const reader = await Raw.connected(hub, { version: 5, connect: { clientId: "small", properties: { maximumPacketSize: 100 } } });
    reader.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/size" }] });
    await reader.next();
    const writer = await client();
    const { tooLarge } = await hub.metrics();
    await writer.publishAsync("a/size", "x".repeat(200), { qos: 1 });
    await writer.publishAsync("a/size", "small", { qos: 1 });
    expect((await reader.next()).payload.toString()).toBe("small");
    expect((await hub.metrics()).tooLarge).toBe(tooLarge + 1);
    reader.socket.terminate();
    await closing(writer);
  });

  it("what the hub cannot do is refused", async () => {
    const refused = async (connect) => {
      const raw = await Raw.open(hub, { version: 5 });
      raw.packet({ kind: "connect", version: 5, clientId: "no", userName: "any", password: TOKEN, ...connect });
      const { kind, reason } = await raw.next();
      return [kind, reason, await raw.closed];
    };
    expect(await refused({ properties: { authenticationMethod: "SCRAM" } })).toEqual(["connack", 0x8c, 1008]);
    expect(await refused({ will: { topic: "a/x", qos: 2 } })).toEqual(["connack", 0x9b, 1008]);
    const raw = await Raw.connected(hub, { version: 5, connect: { clientId: "alias" } });
    raw.packet({ kind: "publish", topic: "a/x", properties: { topicAlias: 1 } });
    expect(await raw.next()).toMatchObject({ kind: "disconnect", reason: 0x94 });
  });

  it("retained messages are bounded and counted", async () => {
    const own = await start(HUB);
    const writer = await connect(own, { version: 5, clientId: "many" });
    const large = Buffer.alloc(250_000);
    const codes = [];
    for (let at = 0; at < 70; at += 1) codes.push(await writer.publishAsync(`a/${at}`, large, { qos: 1, retain: true }).then(() => 0, ({ code }) => code));
    expect([codes.indexOf(0x97), codes.lastIndexOf(0)]).toEqual([67, 66]);
    expect(await own.metrics()).toMatchObject({ notRetained: 3, retained: { messages: 67 } });
    // The one before it is gone too, since it is no longer true.
    await writer.publishAsync("a/1", Buffer.alloc(260_000), { qos: 1, retain: true }).catch(() => {});
    expect((await own.metrics()).retained.messages).toBe(66);
    await writer.endAsync(true);
    await own.stop();
  });
});
