// The hub over a sleep. The runtime removes an object from memory after ten seconds without an event, and no
// program can ask it to: the tests leave the hub alone until its counts say that it has begun anew.

import { afterAll, beforeAll, expect, it } from "vitest";
import { mqtt } from "wardgate/mqtt";

import { closed, connect, HUB, Raw, settled, start, subscribe, until } from "./testing.mjs";

const ALONE = 11_000;

let hub;
beforeAll(async () => {
  hub = await start(HUB);
});
afterAll(() => hub.stop());

/** Lets the hub sleep, wakes it by something, and returns its counts after that; asking for them wakes it too. */
async function asleep(wake = async () => {}) {
  const { since } = await hub.metrics();
  return until(async () => {
    await new Promise((resolve) => setTimeout(resolve, ALONE));
    await wake();
    const metrics = await hub.metrics();
    return metrics.since !== since && metrics;
  });
}

it("a PINGREQ wakes the hub, and opens no bundle", async () => {
  const raw = await Raw.connected(hub, { version: 4, connect: { clientId: "quiet" } });
  raw.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/quiet" }] });
  await raw.next();
  expect((await hub.metrics()).policies).toMatchObject({ status: "ok", revision: 1 });
  const ping = async () => expect(await raw.sofar()).toEqual([]);
  expect(await asleep(ping)).toMatchObject({ clients: 1, subscriptions: 1, allowed: 0, denied: 0, policies: { status: "not-ready" } });
  // Neither does another one, now that the sessions are there.
  await ping();
  expect(await hub.metrics()).toMatchObject({ allowed: 0, denied: 0, policies: { status: "not-ready" } });
  raw.packet({ kind: "publish", topic: "a/quiet", payload: "x", qos: 1, id: 1 });
  expect([await raw.next(), await raw.next()]).toMatchObject([{ kind: "publish", topic: "a/quiet" }, { kind: "puback", id: 1 }]);
  expect((await hub.metrics()).policies).toMatchObject({ status: "ok", revision: 1 });
  raw.packet({ kind: "disconnect" });
  await raw.closed;
}, 120_000);

it("clients, subscriptions, groups, retained messages, wills and half packets are as before", async () => {
  const clients = {};
  // One after the other: the runtime does not let an object sleep after connections that raced.
  for (const version of [4, 5]) {
    clients[`reader${version}`] = await connect(hub, { version, clientId: `reader${version}`, will: { topic: `a/gone/${version}`, payload: "gone", qos: 0, retain: true } });
    clients[`member${version}`] = await connect(hub, { version, clientId: `member${version}` });
    clients[`writer${version}`] = await connect(hub, { version, clientId: `writer${version}` });
    await subscribe(clients[`reader${version}`], ["a/s/+", `own/reader${version}/#`]);
    await subscribe(clients[`member${version}`], "$share/g/a/s/+");
  }
  const { reader4, reader5, member4, member5, writer4, writer5 } = clients;
  await subscribe(reader5, "b/options", { qos: 0, nl: true, rap: true, properties: { subscriptionIdentifier: 9 } });
  await writer5.publishAsync("b/kept", "kept", { qos: 1, retain: true, properties: { contentType: "text" } });
  const assigned = await Raw.open(hub, { version: 5 });
  assigned.packet({ kind: "connect", version: 5, clientId: "", userName: "any", password: "a-token-for-the-tests" });
  const { properties } = await assigned.next();
  const half = await Raw.connected(hub, { version: 5, connect: { clientId: "half" } });
  const publish = mqtt.encode({ kind: "publish", topic: "a/s/half", payload: "of two halves", qos: 1, id: 5 }, 5);
  half.send(publish.subarray(0, 9));

  expect(await asleep()).toMatchObject({ clients: 8, subscriptions: 7, retained: { messages: 1 }, policies: { status: "not-ready" } });
  half.send(publish.subarray(9));
  expect(await half.next()).toMatchObject({ kind: "puback", id: 5, reason: 0 });
  await writer4.publishAsync("a/s/4", "four", { qos: 1 });
  await writer5.publishAsync("a/s/5", "five", { qos: 1 });
  await writer5.publishAsync("b/options", "x", { qos: 1, retain: true });
  await Promise.all([reader4, reader5, member4, member5].map(settled));
  expect(reader4.topics()).toEqual(["a/s/half", "a/s/4", "a/s/5"]);
  expect(reader5.topics()).toEqual(["a/s/half", "a/s/4", "a/s/5", "b/options"]);
  expect(reader5.received.at(-1)).toMatchObject({ retain: true, properties: { subscriptionIdentifier: 9 } });
  expect([...member4.topics(), ...member5.topics()].sort()).toEqual(["a/s/4", "a/s/5", "a/s/half"]);
  expect([member4, member5].map(({ received }) => received.length).sort()).toEqual([1, 2]);
  expect(await subscribe(writer4, ["b/kept", "b/options"])).toEqual([0, 0]);
  await settled(writer4);
  expect(writer4.received.map(({ topic, text, retain }) => [topic, text, retain])).toEqual([["b/kept", "kept", true], ["b/options", "x", true]]);
  // The name that the hub has assigned is still the name of the client.
  assigned.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: `own/${properties.assignedClientIdentifier}/x` }, { filter: "own/other/x" }] });
  expect(await assigned.next()).toMatchObject({ reasons: [0, 0x87] });
  // An id is taken over from a client that has slept through everything.
  const again = await connect(hub, { version: 5, clientId: "member5" });
  expect(await member5.told).toBe(0x8e);
  await subscribe(again, "a/gone/#");
  reader4.stream.destroy();
  await until(() => again.received.length > 0);
  expect(again.received.map(({ topic, text }) => [topic, text])).toEqual([["a/gone/4", "gone"]]);
  for (const raw of [assigned, half]) raw.socket.terminate();
  for (const client of [reader5, member4, writer4, writer5, again]) await client.endAsync();
  await until(async () => (await hub.metrics()).clients === 0);
}, 120_000);

it("a will is published though its client was lost in the sleep, and nothing passes by old policies", async () => {
  const watcher = await connect(hub, { version: 5, clientId: "watcher" });
  await subscribe(watcher, "a/will/#");
  const lost = await connect(hub, { version: 4, clientId: "lost", will: { topic: "a/will/lost", payload: "x", qos: 0, retain: false } });
  const leaving = await connect(hub, { version: 5, clientId: "leaving" });
  const closedTopic = await connect(hub, { version: 5, clientId: "closed-topic", will: { topic: "b/will", payload: "x", qos: 0, retain: false } });
  await subscribe(closedTopic, "b/x");
  const writer = await connect(hub, { version: 4, clientId: "writer" });
  await writer.publishAsync("b/kept", "kept", { qos: 1, retain: true });
  await writer.publishAsync("a/kept", "kept", { qos: 1, retain: true });
  await asleep();
  lost.stream.destroy();
  await until(() => watcher.received.length > 0);
  expect(watcher.topics()).toEqual(["a/will/lost"]);
  await asleep();
  await hub.use(closed);
  // Nothing of what the new policies forbid gets through, not even the message that wakes the hub.
  writer.publish("b/x", "too late", { qos: 1 });
  await Promise.all([writer.ended, leaving.ended, closedTopic.ended]);
  expect([await leaving.told, await closedTopic.told]).toEqual([0x87, 0x87]);
  expect(closedTopic.received).toEqual([]);
  await subscribe(watcher, "a/#");
  await settled(watcher);
  expect(watcher.topics()).toContain("a/kept");
  expect(await hub.metrics()).toMatchObject({ clients: 1, subscriptions: 2, policies: { revision: 2 } });
  const { retained } = await hub.metrics();
  await watcher.endAsync();
  // `b/kept` and `b/options` of the test before are gone; `a/gone/4` and `a/kept` stay.
  expect(retained.messages).toBe(2);
}, 120_000);
