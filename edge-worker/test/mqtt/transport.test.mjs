// What comes over WebSocket: requests, frames, packets and bytes that are none.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mqtt } from "wardgate/mqtt";

import { HUB, Raw, settled, connect, start, subscribe, TOKEN, until } from "./testing.mjs";
import { Inbox } from "../../src/mqtt/inbox.ts";

const connected = { kind: "connect", clientId: "raw", userName: "any", password: TOKEN, keepAlive: 60 };
const bytes = (version, ...packets) => Buffer.concat(packets.map((packet) => mqtt.encode(packet, version)));

describe.each(["hub", "gate"])("the %s", (mode) => {
  let server;
  let broker;
  beforeAll(async () => {
    broker = await start(HUB);
    // The hub can serve as the broker behind a gate.
    server = mode === "hub" ? broker : await start({ vars: { MQTT_UPSTREAM: broker.url, MQTT_PASSWORD: "pass" } });
  });
  afterAll(() => Promise.all([...new Set([server, broker])].map((one) => one.stop())));

  it.each([
    [{ protocols: ["mqttv3.1"] }, "status 400"],
    [{ protocols: [] }, "status 400"],
    [{ origin: "https://evil.example" }, "status 403"],
    [{ origin: "null" }, "status 403"],
  ])("refuses a request with %j", async (options, expected) => {
    await expect(Raw.open(server, options)).rejects.toThrow(expected);
  });

  it("admits pages of its own host, and programs", async () => {
    for (const options of [{}, { origin: `http://127.0.0.1:${server.port}` }, { protocols: ["other", "mqtt"] }]) {
      const raw = await Raw.open(server, options);
      expect(raw.socket.protocol).toBe("mqtt");
      raw.socket.terminate();
    }
  });

  it("is a WebSocket and nothing else", async () => {
    const status = async (init) => (await server.worker.dispatchFetch("http://127.0.0.1/mqtt", init)).status;
    expect([await status(), await status({ method: "POST" })]).toEqual([426, 405]);
    expect((await server.worker.dispatchFetch("http://127.0.0.1/metrics")).status).toBe(401);
    expect((await server.worker.dispatchFetch("http://127.0.0.1/other")).status).toBe(404);
    expect(await (await server.worker.dispatchFetch("http://127.0.0.1/health")).json()).toMatchObject({ status: "ok" });
  });

  it("joins packets that span frames, and takes those that share one", async () => {
    const raw = await Raw.open(server);
    for (const byte of bytes(4, { ...connected, version: 4, clientId: "bits" })) raw.send(Uint8Array.of(byte));
    expect(await raw.next()).toMatchObject({ kind: "connack", reason: 0 });
    const publish = (payload) => ({ kind: "publish", topic: "a/x", payload });
    const several = bytes(4, { kind: "subscribe", id: 1, subscriptions: [{ filter: "a/x" }] }, publish("one"), publish("two"));
    raw.send(several.subarray(0, -3));
    raw.send(several.subarray(-3));
    for (const byte of bytes(4, publish("three"))) raw.send(Uint8Array.of(byte));
    const all = await raw.sofar();
    expect(all.map(({ kind, payload }) => payload?.toString() ?? kind)).toEqual(["suback", "one", "two", "three"]);
    raw.socket.terminate();
    const eager = await Raw.open(server);
    eager.send(bytes(4, { ...connected, version: 4, clientId: "eager" }, { kind: "subscribe", id: 1, subscriptions: [{ filter: "a/y" }] }));
    expect([await eager.next(), await eager.next()]).toMatchObject([{ kind: "connack" }, { kind: "suback" }]);
    eager.socket.terminate();
  });

  it("closes for a text", async () => {
    const raw = await Raw.connected(server, { connect: { clientId: "text" } });
    raw.send("hello");
    expect(await raw.closed).toBe(1003);
    const early = await Raw.open(server);
    early.send("hello");
    expect(await early.closed).toBe(1003);
  });

  it.each([
    ["a reserved type", Uint8Array.of(0, 0), 0x81, 1002],
    ["a length of five bytes", Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0xff, 1), 0x81, 1002],
    ["reserved flags", Uint8Array.of(0x83, 2, 0, 1), 0x81, 1002],
    ["QoS 3", Uint8Array.of(0x36, 5, 0, 1, 0x61, 0, 1), 0x81, 1002],
    ["packet identifier 0", Uint8Array.of(0x82, 6, 0, 0, 0, 0, 0, 0), 0x82, 1002],
    ["a wildcard in a topic", Uint8Array.of(0x30, 4, 0, 1, 0x2b, 0), 0x90, 1002],
    ["an invalid filter", bytesOfSubscribe("a#"), 0x8f, 1002],
    ["a text that is not UTF-8", Uint8Array.of(0x30, 5, 0, 2, 0xc0, 0x80, 0), 0x81, 1002],
    ["a packet that is too large", Uint8Array.of(0x30, 0xff, 0xff, 0x7f), 0x95, 1009],
    ["a second CONNECT", bytes(5, { ...connected, version: 5 }), 0x82, 1002],
    ["a packet of servers", bytes(5, { kind: "suback", id: 1, reasons: [0] }), 0x82, 1002],
  ])("closes for %s, and tells and logs why", async (_, wrong, reason, code) => {
    const before = server.log.length;
    const raw = await Raw.connected(server, { version: 5, connect: { clientId: "wrong" } });
    raw.send(wrong);
    expect(await raw.next()).toMatchObject({ kind: "disconnect", reason });
    expect(await raw.closed).toBe(code);
    expect(server.log.slice(before)).toContainEqual(expect.objectContaining({ event: "mqtt-end", side: "client", reason, offset: expect.any(Number) }));
    // Others go on.
    const other = await connect(server, { clientId: "other" });
    await subscribe(other, "a/x");
    await settled(other);
    await other.endAsync(true);
  });

  it.each([
    ["another packet", bytes(4, { kind: "pingreq" }), undefined],
    ["a protocol that is none", Buffer.from("100c00044d515454060200000000", "hex"), { kind: "connack", reason: 0x84 }],
    ["3.1", Buffer.from("100e00064d51497364700302000000", "hex"), undefined],
    // Its first bytes do not say in which version an answer would have to be.
    ["a CONNECT beyond the bound", Buffer.from("1080800200044d5154540502003c", "hex"), undefined],
    ["HTTP", Buffer.from("GET / HTTP/1.1\r\n\r\n"), undefined],
  ])("closes for %s at the front", async (_, wrong, answer) => {
    const raw = await Raw.open(server, { version: 5 });
    raw.send(wrong);
    expect(await raw.closed).toBeGreaterThanOrEqual(1002);
    expect(raw.packets[0]).toEqual(answer === undefined ? undefined : expect.objectContaining(answer));
  });

  it("closes a client that sends no CONNECT in time", async () => {
    const [none, half] = [await Raw.open(server), await Raw.open(server)];
    half.send(bytes(4, { ...connected, version: 4 }).subarray(0, 9));
    expect(await half.closed).toBe(1008);
    await until(() => none.isClosing);
  });
});

describe("a list of origins", () => {
  it("names the pages that may connect", async () => {
    const server = await start({ ...HUB, vars: { MQTT_ORIGINS: ["https://app.example.com"] } });
    (await Raw.open(server, { origin: "https://app.example.com" })).socket.terminate();
    (await Raw.open(server)).socket.terminate();
    for (const origin of ["https://app.example.com.evil", "http://app.example.com", `http://127.0.0.1:${server.port}`]) {
      await expect(Raw.open(server, { origin }), origin).rejects.toThrow("status 403");
    }
    await server.stop();
  });
});

describe("the configuration", () => {
  it("is off unless a hub or a broker is bound", async () => {
    const off = await start();
    expect((await off.worker.dispatchFetch("http://127.0.0.1/mqtt", { headers: { Upgrade: "websocket" } })).status).toBe(404);
    await off.stop();
  });

  it.each([
    [{ MQTT_UPSTREAM: "ws://broker.example.com" }],
    [{ MQTT_UPSTREAM: "broker" }],
    [{ MQTT_UPSTREAM: "mqtt://broker.example.com" }],
    [{ MQTT_KEEP_ALIVE_SECONDS: 60 }],
    [{ MQTT_PASSWORD: "pass" }],
    [{ MQTT_UPSTREAM: "wss://broker.example.com", MQTT_RECHECK_SECONDS: 60 }],
    [{ MQTT_ORIGINS: ["app.example.com"] }],
    [{ MQTT_ORIGINS: "https://app.example.com" }],
    [{ MQTT_DENIED: "allow" }],
    [{ MQTT_ANONYMOUS: "true" }],
    [{ MQTT_MAX_PACKET_BYTES: 2 ** 21 }],
    [{ MQTT_MAX_PACKET_BYTES: 1.5 }],
  ])("%j is refused", async (vars) => {
    const wrong = await start({ vars });
    const response = await wrong.worker.dispatchFetch("http://127.0.0.1/health");
    expect([response.status, await response.json()]).toMatchObject([503, { error: "not-configured" }]);
    expect(wrong.log).toContainEqual(expect.objectContaining({ event: "configuration" }));
    await wrong.stop();
  });

  it("names one of the two only", async () => {
    const both = await start({ ...HUB, vars: { MQTT_UPSTREAM: "wss://broker.example.com" } });
    expect((await both.worker.dispatchFetch("http://127.0.0.1/health")).status).toBe(503);
    await both.stop();
  });
});

describe("an inbox", () => {
  const packet = (length) => Uint8Array.of(0x30, ...varint(length), ...new Uint8Array(length));

  it("gives out whole packets, however they come", () => {
    const all = Buffer.concat([packet(0), packet(5), packet(130), packet(20_000), packet(3)]);
    for (const step of [1, 2, 3, 7, 100, 4096, all.length]) {
      const inbox = new Inbox(30_000);
      const pieces = [];
      for (let at = 0; at < all.length; at += step) pieces.push(Buffer.from(inbox.take(all.subarray(at, at + step))));
      expect(Buffer.concat(pieces).equals(all), String(step)).toBe(true);
      expect(inbox.rest.length).toBe(0);
    }
  });

  it("keeps less than a packet, and gives out at once what begins none", () => {
    const inbox = new Inbox(100);
    expect(inbox.take(packet(90).subarray(0, 50)).length).toBe(0);
    expect(inbox.rest.length).toBe(50);
    expect(new Inbox(100).take(packet(99).subarray(0, 2)).length).toBe(2);
    expect(new Inbox(100).take(Uint8Array.of(0x30, 0xff, 0xff, 0xff, 0xff)).length).toBe(5);
  });
});

function varint(length) {
  const digits = [];
  for (let rest = length; ; rest >>= 7) {
    if (rest < 128) return [...digits, rest];
    digits.push((rest & 127) | 128);
  }
}

function bytesOfSubscribe(filter) {
  const text = Buffer.from(filter);
  return Uint8Array.of(0x82, text.length + 6, 0, 1, 0, 0, text.length, ...text, 0);
}
