// Shared parts of the tests of MQTT: the worker in workerd, and clients for it.

import { createHmac } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

import mqttjs from "mqtt";
import { Log, LogLevel, Miniflare } from "miniflare";
import { mqtt } from "wardgate/mqtt";
import WebSocket from "ws";

const dev = new URL("../../.dev/", import.meta.url);
const built = new URL("mqtt/", dev);
const HS256 = "k".repeat(43);

export const TOKEN = "a-token-for-the-tests";
export const [policies, closed] = ["mqtt", "mqtt-closed"].map((name) => readFileSync(new URL(`${name}.bundle`, dev)));
/** The modes that need no more than a binding. */
export const HUB = { durableObjects: { MQTT_HUB: { className: "MqttHub", useSQLite: true } } };

/** Starts a worker. Each has a KV, a hub and a log of its own. */
export async function start({ vars = {}, ...options } = {}) {
  const log = [];
  const settings = {
    modules: modules(),
    compatibilityDate: "2026-04-01",
    kvNamespaces: ["POLICIES_KV"],
    bindings: {
      BUNDLE: "kv:policies",
      TRUSTED_KEYS: readFileSync(new URL("release.pub.jwk", dev), "utf8"),
      AUTH_TOKENS: { tests: TOKEN },
      AUTH_JWT: { algorithm: "HS256", keys: [{ kty: "oct", k: HS256 }], issuer: "https://login.example.com", audience: "mqtt" },
      REFRESH_SECONDS: 0,
      ...vars,
    },
    cf: false,
    log: new Log(LogLevel.NONE),
    handleStructuredLogs: ({ message }) => void log.push(...message.split("\n").map(readLine)),
    ...options,
  };
  const worker = new Miniflare(settings);
  const url = await worker.ready;
  await use(worker, policies);
  const port = Number(url.port);
  return {
    port,
    log,
    worker,
    url: `ws://127.0.0.1:${port}/mqtt`,
    use: (bundle) => use(worker, bundle),
    metrics: async () => {
      const response = await worker.dispatchFetch("http://127.0.0.1/metrics", { headers: { Authorization: `Bearer ${TOKEN}` } });
      return response.json();
    },
    /** Deploys the worker again: connections end, and what is stored stays. */
    restart: () => worker.setOptions({ ...settings, port }),
    stop: () => worker.dispose(),
  };
}

/** Connects the client of the package `mqtt`. It does not connect again by itself. */
export async function connect({ url }, { version = 4, ...options } = {}) {
  const more = { protocolVersion: version, reconnectPeriod: 0, username: "any", password: TOKEN, keepalive: 60, ...options };
  const client = mqttjs.connect(url, more);
  const received = [];
  client.on("message", (topic, payload, packet) => received.push({ topic, text: payload.toString(), ...packet }));
  const ended = new Promise((resolve) => client.once("close", resolve));
  const told = new Promise((resolve) => client.once("disconnect", ({ reasonCode }) => resolve(reasonCode)));
  await new Promise((resolve, reject) => {
    client.once("connect", resolve);
    client.once("error", reject);
    client.once("close", () => reject(new Error("closed")));
  });
  client.on("error", () => {});
  return Object.assign(client, { received, ended, told, topics: () => received.map(({ topic }) => topic) });
}

/** Returns the code by which a client is refused, or how else it ends. */
export async function refusal(server, options) {
  try {
    const client = await connect(server, options);
    client.end(true);
    return "accepted";
  } catch (error) {
    return error.code ?? error.message;
  }
}

/** Subscribes, and returns the reason code of each filter. */
export async function subscribe(client, filters, options = { qos: 0 }) {
  try {
    const granted = await client.subscribeAsync(filters, options);
    return granted.map(({ qos }) => qos);
  } catch (error) {
    return error.packet?.granted ?? [error.code ?? error.message];
  }
}

/** A client that sends what it likes, and shows what comes. */
export class Raw {
  #bytes = Buffer.alloc(0);
  packets = [];
  waiting = [];

  constructor(socket, version) {
    this.socket = socket;
    this.version = version;
    this.closed = new Promise((resolve) => socket.once("close", (code) => resolve(code)));
    socket.on("message", (bytes) => this.#take(bytes));
    socket.on("error", () => {});
  }

  static async open({ url }, { version = 4, protocols = ["mqtt"], ...options } = {}) {
    const socket = new WebSocket(url, protocols, options);
    const raw = new Raw(socket, version);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("unexpected-response", (_, response) => reject(new Error(`status ${response.statusCode}`)));
      socket.once("error", reject);
    });
    return raw;
  }

  static async connected(server, { version = 4, connect = {}, ...options } = {}) {
    const raw = await Raw.open(server, { version, ...options });
    raw.packet({ kind: "connect", version, clientId: "raw", userName: "any", password: TOKEN, keepAlive: 60, ...connect });
    const { kind, reason } = await raw.next();
    if (kind !== "connack" || reason !== 0) throw new Error(`${kind} ${reason}`);
    return raw;
  }

  /** The server has said that it closes the connection. */
  get isClosing() {
    return this.socket.readyState !== WebSocket.OPEN;
  }

  packet(...packets) {
    this.send(Buffer.concat(packets.map((packet) => mqtt.encode(packet, this.version))));
  }

  send(bytes) {
    this.socket.send(bytes);
  }

  /** Returns the next packet. */
  next() {
    if (this.packets.length > 0) return Promise.resolve(this.packets.shift());
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Sends PINGREQ, and returns what came before its answer. */
  async sofar() {
    this.packet({ kind: "pingreq" });
    const before = [];
    for (let packet = await this.next(); packet.kind !== "pingresp"; packet = await this.next()) before.push(packet);
    return before;
  }

  #take(bytes) {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      const found = mqtt.decode(this.#bytes, { version: this.version, limits: { packetBytes: 2 ** 24 } });
      if (found.kind === "more") return;
      const packet = found.packet.payload === undefined ? found.packet : { ...found.packet, payload: Buffer.from(found.packet.payload) };
      this.#bytes = this.#bytes.subarray(found.used);
      const waiting = this.waiting.shift();
      if (waiting === undefined) this.packets.push(packet);
      else waiting(packet);
    }
  }
}

/** Returns a signed token. */
export function signed(claims) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  const body = { iss: "https://login.example.com", aud: "mqtt", sub: "ada", exp: now + 300, ...claims };
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(body)}`;
  return `${text}.${createHmac("sha256", Buffer.from(HS256, "base64url")).update(text).digest("base64url")}`;
}

/** Waits until a condition holds, which it checks again and again; the time of the test bounds it. */
export async function until(holds, pause = 20) {
  for (;;) {
    const value = await holds();
    if (value) return value;
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Returns when the broker has dealt with all that a client has sent. */
export function settled(client) {
  return new Promise((resolve) => {
    client.once("packetreceive", function answered({ cmd }) {
      if (cmd === "pingresp") resolve();
      else client.once("packetreceive", answered);
    });
    client.sendPing();
  });
}

async function use(worker, bundle) {
  const kv = await worker.getKVNamespace("POLICIES_KV");
  await kv.put("policies", typeof bundle === "string" ? bundle : new Uint8Array(bundle).buffer);
}

/** The worker as wrangler has built it. */
function modules() {
  const file = (name) => readFileSync(new URL(name, built));
  const code = readdirSync(built).filter((name) => name.endsWith(".wasm"));
  return [
    { type: "ESModule", path: "worker.js", contents: file("worker.js").toString() },
    ...code.map((name) => ({ type: "CompiledWasm", path: name, contents: file(name) })),
  ];
}

/** A line of the worker's log is JSON; others are of workerd. */
function readLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { event: "text", line };
  }
}
