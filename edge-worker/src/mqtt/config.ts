// Reads the configuration of MQTT. A value that has no effect is an error, like a wrong one.

import { isLoopback } from "wardgate/authzen";

import { ConfigError, readJson, readNumber } from "../config.ts";
import { isUrl } from "../text.ts";
import type { MqttEnv } from "./env.ts";
import { ORIGINS } from "./limits.ts";

export interface MqttSettings {
  readonly mode: Mode;
  /** The origins of the pages that may connect; `undefined` for those of the same host. */
  readonly origins: ReadonlySet<string> | undefined;
  readonly isAnonymousAllowed: boolean;
  readonly gate: {
    readonly denied: "close" | "drop";
    readonly deliver: "subscribed" | "each";
    readonly maxPacketBytes: number;
    readonly passPassword: boolean;
  };
}

export type Mode = { readonly kind: "off" } | GateMode | HubMode;

/** A gate before a broker. */
export interface GateMode {
  readonly kind: "gate";
  /** The URL of the broker, with `http:` or `https:` as `fetch` needs it. */
  readonly url: string;
  readonly broker: Fetcher | undefined;
}

/** A hub, which needs no broker. */
export interface HubMode {
  readonly kind: "hub";
  readonly namespace: DurableObjectNamespace;
  readonly keepAliveSeconds: number;
  readonly recheckMillis: number;
}

export function readSettings(env: MqttEnv): MqttSettings {
  return {
    mode: readMode(env),
    origins: readOrigins(env.MQTT_ORIGINS),
    isAnonymousAllowed: readWord("MQTT_ANONYMOUS", env.MQTT_ANONYMOUS, ["refuse", "allow"]) === "allow",
    gate: {
      denied: readWord("MQTT_DENIED", env.MQTT_DENIED, ["close", "drop"]),
      deliver: readWord("MQTT_DELIVER", env.MQTT_DELIVER, ["subscribed", "each"]),
      maxPacketBytes: readWhole("MQTT_MAX_PACKET_BYTES", env.MQTT_MAX_PACKET_BYTES, { otherwise: 262_144, most: MOST_PACKET_BYTES }),
      passPassword: readWord("MQTT_PASSWORD", env.MQTT_PASSWORD, ["withhold", "pass"]) === "pass",
    },
  };
}

function readMode(env: MqttEnv): Mode {
  const { MQTT_HUB, MQTT_UPSTREAM, MQTT_BROKER } = env;
  if (MQTT_HUB === undefined) {
    mustBeAbsent(env, ["MQTT_KEEP_ALIVE_SECONDS", "MQTT_RECHECK_SECONDS"], "MQTT_HUB");
    if (MQTT_UPSTREAM !== undefined) return { kind: "gate", url: readUpstream(MQTT_UPSTREAM), broker: MQTT_BROKER };
    mustBeAbsent(env, ["MQTT_BROKER", "MQTT_PASSWORD"], "MQTT_UPSTREAM");
    return { kind: "off" };
  }
  if (MQTT_UPSTREAM !== undefined) throw new ConfigError("MQTT_HUB and MQTT_UPSTREAM exclude each other");
  mustBeAbsent(env, ["MQTT_BROKER", "MQTT_PASSWORD"], "MQTT_UPSTREAM");
  const recheck = readWhole("MQTT_RECHECK_SECONDS", env.MQTT_RECHECK_SECONDS, { otherwise: 300, most: 86_400 });
  return {
    kind: "hub",
    namespace: MQTT_HUB,
    keepAliveSeconds: readWhole("MQTT_KEEP_ALIVE_SECONDS", env.MQTT_KEEP_ALIVE_SECONDS, { otherwise: 1200, most: 65_535 }),
    recheckMillis: 1000 * Math.max(1, recheck),
  };
}

function mustBeAbsent(env: MqttEnv, names: readonly (keyof MqttEnv)[], needed: keyof MqttEnv): void {
  const name = names.find((name) => env[name] !== undefined);
  if (name !== undefined) throw new ConfigError(`${name} has no effect without ${needed}`);
}

/** Passwords of clients and messages cross the connection, so it is encrypted. */
function readUpstream(text: string): string {
  if (!isUrl(text)) throw new ConfigError("MQTT_UPSTREAM must be a URL");
  const url = new URL(text);
  const { protocol, hostname, hash } = url;
  const isEncrypted = protocol === "wss:" || protocol === "https:";
  const isHere = (protocol === "ws:" || protocol === "http:") && isLoopback(hostname);
  if (!isEncrypted && !isHere) throw new ConfigError("MQTT_UPSTREAM must begin with wss:");
  if (hash !== "") throw new ConfigError("MQTT_UPSTREAM must have no fragment");
  return `${isEncrypted ? "https:" : "http:"}${url.href.slice(protocol.length)}`;
}

function readOrigins(value: unknown): ReadonlySet<string> | undefined {
  const list = readJson("MQTT_ORIGINS", value);
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || list.length > ORIGINS) throw new ConfigError(`MQTT_ORIGINS must be a JSON list of at most ${ORIGINS} origins`);
  return new Set(list.map((origin: unknown) => {
    if (typeof origin === "string" && isUrl(origin) && new URL(origin).origin === origin) return origin;
    throw new ConfigError("MQTT_ORIGINS must have origins such as `https://app.example.com`");
  }));
}

function readWord<const W extends string>(name: string, word: string | undefined, words: readonly [usual: W, other: W]): W {
  const found = words.find((known) => known === (word ?? words[0]));
  if (found === undefined) throw new ConfigError(`${name} must be \`${words[0]}\` or \`${words[1]}\``);
  return found;
}

function readWhole(name: string, value: unknown, bounds: { otherwise: number; most: number }): number {
  const number = readNumber(name, value, bounds);
  if (!Number.isInteger(number)) throw new ConfigError(`${name} must be a whole number`);
  return number;
}

/** A packet crosses as one message of WebSocket, which the platform bounds. */
const MOST_PACKET_BYTES = 2 ** 20;
