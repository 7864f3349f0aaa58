// What changes while clients are connected: policies, tokens, and clients that fall silent or read nothing.

import { expect, it } from "vitest";

import { closed, connect, HUB, Raw, refusal, settled, signed, start, subscribe, until } from "./testing.mjs";

it("a reload ends what is no longer allowed, and nothing else", async () => {
  const hub = await start(HUB);
  const will = { topic: "b/will", payload: "gone", qos: 0, retain: false };
  const [stays, topic, leaving, last, four] = [
    await connect(hub, { version: 5, clientId: "stays" }),
    await connect(hub, { version: 5, clientId: "topic" }),
    await connect(hub, { version: 5, clientId: "leaving" }),
    await connect(hub, { version: 5, clientId: "will", will }),
    await connect(hub, { version: 4, clientId: "four" }),
  ];
  await subscribe(stays, "a/#");
  await subscribe(topic, ["a/x", "b/x"]);
  await subscribe(four, "b/y");
  for (const name of ["a/kept", "b/kept"]) await stays.publishAsync(name, "x", { qos: 1, retain: true });
  await hub.use(closed);
  // Any packet looks for new policies, and is decided by them at the latest when they are there.
  await until(async () => {
    await settled(stays);
    stays.publish("a/tick", "");
    return (await hub.metrics()).policies.revision === 2;
  });
  expect(await Promise.all([topic, leaving, last].map(({ told }) => told))).toEqual([0x87, 0x87, 0x87]);
  await Promise.all([topic, leaving, last, four].map(({ ended }) => ended));
  await settled(stays);
  expect(stays.topics()).not.toContain("b/will");
  expect(await hub.metrics()).toMatchObject({ clients: 1, retained: { messages: 1 }, closed: 4 });
  expect(hub.log).toContainEqual(expect.objectContaining({ event: "mqtt-end", client: "leaving", reason: 0x87 }));
  expect(await refusal(hub, { version: 5, clientId: "leaving" })).toBe(0x87);
  await stays.endAsync();
  await hub.stop();
});

it("a reload is seen while nothing happens", async () => {
  const hub = await start({ ...HUB, vars: { MQTT_RECHECK_SECONDS: 1 } });
  const [stays, leaving] = [await connect(hub, { version: 4, clientId: "stays" }), await connect(hub, { version: 5, clientId: "leaving" })];
  await hub.use(closed);
  expect(await leaving.told).toBe(0x87);
  await settled(stays);
  await stays.endAsync();
  await hub.stop();
});

it("the will of a client that was lost with the hub is published when it is back", async () => {
  const hub = await start(HUB);
  const will = (payload) => ({ topic: "a/gone", payload, qos: 0, retain: true });
  const [lost, polite] = [await connect(hub, { clientId: "lost", will: will("lost") }), await connect(hub, { clientId: "polite", will: will("polite") })];
  await polite.endAsync();
  await hub.restart();
  await lost.ended;
  const client = await connect(hub, { clientId: "client" });
  await subscribe(client, "a/gone");
  await settled(client);
  expect(client.received.map(({ text, retain }) => [text, retain])).toEqual([["lost", true]]);
  expect(await hub.metrics()).toMatchObject({ clients: 1, subscriptions: 1 });
  await client.endAsync();
  await hub.stop();
});

it("a client goes when its token ends, and its retained messages with it", async () => {
  const hub = await start(HUB);
  // The clocks may differ by 30 seconds, so this one ends in two.
  const password = () => signed({ exp: Math.floor(Date.now() / 1000) - 28 });
  const five = await connect(hub, { version: 5, clientId: "five", password: password(), will: { topic: "a/will", payload: "", qos: 0, retain: false } });
  await five.publishAsync("a/of-five", "x", { qos: 1, retain: true });
  const four = await connect(hub, { version: 4, clientId: "four", password: password() });
  const stays = await connect(hub, { version: 5, clientId: "stays", password: signed({}) });
  await subscribe(stays, "a/will");
  expect(await five.told).toBe(0x87);
  await Promise.all([five.ended, four.ended]);
  expect((await hub.metrics()).retained.messages).toBe(0);
  await settled(stays);
  expect(stays.received).toEqual([]);
  await stays.endAsync();
  await hub.stop();
});

it("a silent client is closed after one and a half of its keep-alive", async () => {
  const hub = await start({ ...HUB, vars: { MQTT_KEEP_ALIVE_SECONDS: 1 } });
  const [four, five] = [await Raw.connected(hub, { connect: { clientId: "four", keepAlive: 1 } }), await Raw.connected(hub, { version: 5, connect: { clientId: "five", keepAlive: 600 } })];
  expect(await five.next()).toMatchObject({ kind: "disconnect", reason: 0x8d });
  await Promise.all([four.closed, five.closed]);
  expect((await hub.metrics()).clients).toBe(0);
  await hub.stop();
});

it("a client that reads nothing is closed, and others get everything", async () => {
  const hub = await start(HUB);
  const [stuck, reader, writer] = [await Raw.connected(hub, { connect: { clientId: "stuck" } }), await Raw.connected(hub, { connect: { clientId: "reader" } }), await connect(hub, { clientId: "writer" })];
  for (const raw of [stuck, reader]) {
    raw.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/large" }] });
    await raw.next();
  }
  stuck.socket.pause();
  const large = Buffer.alloc(250_000);
  let count = 0;
  while ((await hub.metrics()).slow === 0) {
    await writer.publishAsync("a/large", large, { qos: 1 });
    count += 1;
    expect(await reader.sofar()).toHaveLength(1);
  }
  expect(count * large.length).toBeGreaterThan(32 * 2 ** 20);
  expect(await hub.metrics()).toMatchObject({ slow: 1, clients: 2 });
  expect(hub.log).toContainEqual(expect.objectContaining({ event: "mqtt-end", client: "stuck", reason: 0x97 }));
  for (const raw of [stuck, reader]) raw.socket.terminate();
  await writer.endAsync(true);
  await hub.stop();
});

it("a hundred connections with one id leave one", async () => {
  const hub = await start(HUB);
  const all = [];
  for (let at = 0; at < 10; at += 1) {
    const some = await Promise.all(Array.from({ length: 10 }, () => Raw.open(hub)));
    for (const raw of some) raw.packet({ kind: "connect", version: 4, clientId: "same", userName: "any", password: "a-token-for-the-tests" });
    for (const raw of some) expect(await raw.next()).toMatchObject({ kind: "connack", reason: 0 });
    all.push(...some);
  }
  await until(() => all.filter(({ isClosing }) => !isClosing).length === 1);
  expect(await hub.metrics()).toMatchObject({ clients: 1, subscriptions: 0, accepted: 100, closed: 99 });
  for (const raw of all) raw.socket.terminate();
  await hub.stop();
});

it("connections without CONNECT push out each other, and no client", async () => {
  const hub = await start(HUB);
  const client = await connect(hub, { clientId: "client" });
  const first = await Raw.open(hub);
  const others = [];
  while (others.length < 256) others.push(...(await Promise.all(Array.from({ length: 16 }, () => Raw.open(hub)))));
  await until(() => first.isClosing);
  expect(others.at(-1).isClosing).toBe(false);
  await settled(client);
  for (const raw of [first, ...others]) raw.socket.terminate();
  await client.endAsync();
  await hub.stop();
});
