// The gate in the worker, before a broker: aedes for 3.1.1, and a hub of its own for 5.0.

import { createServer } from "node:http";

import { Aedes } from "aedes";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWebSocketStream, WebSocketServer } from "ws";

import { closed, connect, HUB, Raw, refusal, settled, signed, start, subscribe, TOKEN, until } from "./testing.mjs";

/** Starts aedes, which speaks 3.1.1 with all QoS. It shows the passwords that it gets. */
async function broker() {
  const aedes = await Aedes.createBroker();
  const passwords = [];
  aedes.authenticate = (client, username, password, done) => {
    passwords.push([username, password?.toString()]);
    done(null, true);
  };
  const server = createServer();
  const sockets = new WebSocketServer({ server, handleProtocols: () => "mqtt" });
  sockets.on("connection", (socket) => aedes.handle(createWebSocketStream(socket)));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = async () => {
    for (const socket of sockets.clients) socket.terminate();
    await new Promise((resolve) => aedes.close(resolve));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `ws://127.0.0.1:${server.address().port}/`, aedes, passwords, sockets, stop };
}

describe("before a broker of 3.1.1", () => {
  let upstream;
  let gate;
  beforeAll(async () => {
    upstream = await broker();
    gate = await start({ vars: { MQTT_UPSTREAM: upstream.url } });
  });
  afterAll(async () => {
    await gate.stop();
    await upstream.stop();
  });

  it("every QoS passes, and the password stays here", async () => {
    const [reader, writer] = [await connect(gate, { clientId: "reader" }), await connect(gate, { clientId: "writer", username: "somebody" })];
    expect(upstream.passwords.at(-1)).toEqual(["somebody", undefined]);
    expect(await subscribe(reader, "a/#", { qos: 2 })).toEqual([2]);
    for (const qos of [0, 1, 2]) await writer.publishAsync(`a/${qos}`, "x", { qos });
    await until(() => reader.received.length === 3);
    expect(reader.received.map(({ topic, qos }) => [topic, qos])).toEqual([["a/0", 0], ["a/1", 1], ["a/2", 2]]);
    await writer.endAsync();
    await reader.endAsync();
  });

  it("what is not allowed does not reach the broker", async () => {
    const seen = [];
    upstream.aedes.on("publish", ({ topic }) => seen.push(topic));
    const client = await connect(gate, { clientId: "denied" });
    expect(await subscribe(client, ["a/x", "c/x"])).toEqual([0, 0x80]);
    client.publish("c/x", "no");
    await settled(client);
    client.publish("c/x", "no", { qos: 1 });
    await client.ended;
    expect(seen.filter((topic) => !topic.startsWith("$SYS"))).toEqual([]);
    await until(() => upstream.sockets.clients.size === 0);
    expect(await refusal(gate, { clientId: "banned" })).toBe(5);
    expect(await refusal(gate, { password: "wrong" })).toBe(4);
    expect(upstream.sockets.clients.size).toBe(0);
  });

  it("a lost client leaves its will, and a broker that goes takes its clients along", async () => {
    const watcher = await connect(gate, { clientId: "watcher" });
    await subscribe(watcher, "a/gone");
    const lost = await connect(gate, { clientId: "lost", will: { topic: "a/gone", payload: "x", qos: 0, retain: false } });
    lost.stream.destroy();
    await until(() => watcher.received.length > 0);
    for (const socket of upstream.sockets.clients) socket.terminate();
    await watcher.ended;
  });

  it("a client that reads nothing is closed", async () => {
    const { slow } = await gate.metrics();
    const [stuck, writer] = [await Raw.connected(gate, { connect: { clientId: "stuck" } }), await connect(gate, { clientId: "writer" })];
    stuck.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/large" }] });
    await stuck.next();
    stuck.socket.pause();
    const large = Buffer.alloc(250_000);
    while ((await gate.metrics()).slow === slow) await writer.publishAsync("a/large", large, { qos: 1 });
    await settled(writer);
    stuck.socket.terminate();
    await writer.endAsync();
  });

  it("a broker gets the password where that is configured", async () => {
    const passing = await start({ vars: { MQTT_UPSTREAM: upstream.url, MQTT_PASSWORD: "pass" } });
    await (await connect(passing, { clientId: "passing" })).endAsync();
    expect(upstream.passwords.at(-1)).toEqual(["any", TOKEN]);
    await passing.stop();
  });

  it("a denied PUBLISH is dropped where that is configured, and deliveries are decided", async () => {
    const other = await start({ vars: { MQTT_UPSTREAM: upstream.url, MQTT_DENIED: "drop", MQTT_DELIVER: "each" } });
    const client = await connect(other, { clientId: "dropped" });
    await client.publishAsync("c/x", "no", { qos: 2 });
    await subscribe(client, ["a/x", "own/dropped/x"]);
    // `own` topics may be subscribed to, and no rule allows to receive them.
    for (const topic of ["own/dropped/x", "a/x"]) await client.publishAsync(topic, "x", { qos: 1 });
    await until(() => client.received.length > 0);
    await settled(client);
    expect(client.topics()).toEqual(["a/x"]);
    await client.endAsync();
    await other.stop();
  });
});

it("a broker that cannot be reached, or speaks something else, refuses the client", async () => {
  const closing = await broker();
  await closing.stop();
  const deaf = createServer((_, response) => response.end("hello"));
  await new Promise((resolve) => deaf.listen(0, "127.0.0.1", resolve));
  const strange = new WebSocketServer({ port: 0, host: "127.0.0.1", handleProtocols: () => false });
  await new Promise((resolve) => strange.once("listening", resolve));
  for (const url of [closing.url, `http://127.0.0.1:${deaf.address().port}/`, `ws://127.0.0.1:${strange.address().port}/`]) {
    const gate = await start({ vars: { MQTT_UPSTREAM: url } });
    expect([await refusal(gate, { version: 4 }), await refusal(gate, { version: 5 })]).toEqual([3, 0x88]);
    expect(gate.log).toContainEqual(expect.objectContaining({ event: "mqtt-broker" }));
    await gate.stop();
  }
  await new Promise((resolve) => deaf.close(resolve));
  await new Promise((resolve) => strange.close(resolve));
});

it("a service may lead to the broker", async () => {
  const upstream = await broker();
  const asked = [];
  const gate = await start({
    vars: { MQTT_UPSTREAM: "wss://broker.example.com/path" },
    serviceBindings: {
      MQTT_BROKER: { external: { address: new URL(upstream.url).host, http: {} } },
    },
  });
  upstream.sockets.on("connection", (_, request) => asked.push([request.url, request.headers["sec-websocket-protocol"]]));
  await (await connect(gate)).endAsync();
  expect(asked).toEqual([["/path", "mqtt"]]);
  await gate.stop();
  await upstream.stop();
});

describe("before a broker of 5.0", () => {
  let upstream;
  let gate;
  beforeAll(async () => {
    upstream = await start(HUB);
    gate = await start({ vars: { MQTT_UPSTREAM: upstream.url, MQTT_PASSWORD: "pass" } });
  });
  afterAll(async () => {
    await gate.stop();
    await upstream.stop();
  });

  it("packets and properties pass, and the keep-alive of the broker holds", async () => {
    const raw = await Raw.open(gate, { version: 5 });
    raw.packet({ kind: "connect", version: 5, clientId: "raw", userName: "any", password: TOKEN });
    expect(await raw.next()).toMatchObject({ kind: "connack", properties: { serverKeepAlive: 1200, maximumQos: 1 } });
    raw.packet({ kind: "subscribe", id: 1, subscriptions: [{ filter: "a/x" }, { filter: "c/x" }], properties: { subscriptionIdentifiers: [3] } });
    expect(await raw.next()).toMatchObject({ kind: "suback", reasons: [0, 0x87] });
    raw.packet({ kind: "publish", topic: "a/x", payload: "x", properties: { userProperties: [["n", "1"]] } });
    expect(await raw.next()).toMatchObject({ topic: "a/x", properties: { userProperties: [["n", "1"]], subscriptionIdentifiers: [3] } });
    raw.socket.terminate();
  });

  it("a reload of the policies ends what is no longer allowed", async () => {
    const own = await start({ vars: { MQTT_UPSTREAM: upstream.url, MQTT_PASSWORD: "pass" } });
    const [stays, leaving, topic] = [await connect(own, { version: 5, clientId: "stays" }), await connect(own, { version: 5, clientId: "leaving" }), await connect(own, { version: 5, clientId: "topic" })];
    await subscribe(stays, "a/x");
    await subscribe(topic, "b/x");
    await own.use(closed);
    expect(await Promise.all([leaving.told, topic.told])).toEqual([0x87, 0x87]);
    await stays.publishAsync("a/x", "x", { qos: 1 });
    await settled(stays);
    expect(stays.topics()).toEqual(["a/x"]);
    await stays.endAsync();
    await own.stop();
  });

  it("a client goes when its token ends", async () => {
    const client = await connect(gate, { version: 5, clientId: "ends", password: signed({ exp: Math.floor(Date.now() / 1000) - 28 }) });
    expect(await client.told).toBe(0x87);
    await client.ended;
    await until(async () => (await upstream.metrics()).clients === 0);
  });

  it("a client that falls silent is closed", async () => {
    const raw = await Raw.connected(gate, { connect: { clientId: "silent", keepAlive: 1 } });
    await raw.closed;
  });
});

it("a client waits for no policies that are not there", async () => {
  const upstream = await broker();
  for (const mode of [HUB, { vars: { MQTT_UPSTREAM: upstream.url } }]) {
    const server = await start(mode);
    await server.use("no bundle");
    expect([await refusal(server, { version: 4 }), await refusal(server, { version: 5 })]).toEqual([3, 0x89]);
    await server.stop();
  }
  await upstream.stop();
});
