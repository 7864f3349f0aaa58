// Topics, sets of filters, packets and gates of MQTT: the entry `wardgate/mqtt`.
//
// They are in a module of their own, which is loaded only by programs that use it. All share one
// instance; after a trap the next call starts another one.

import { loader } from "#load-mqtt";

import { describe, mustBeBytes } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import type { LoadOptions } from "../pdp/load-options.ts";
import type { Pdp } from "../pdp/types.ts";
import { compile, readLoad } from "../wasm/code.ts";
import { SharedLoader } from "../wasm/shared-loader.ts";
import { MqttInstance, mqttMismatch } from "./mqtt-abi.ts";
import { decode } from "./mqtt-decode.ts";
import { encode } from "./mqtt-encode.ts";
import { mustBeText, OpenedFilters } from "./mqtt-filters.ts";
import { OpenedGate } from "./mqtt-gate.ts";
import { readLimits } from "./mqtt-limits.ts";
import type { PacketToEncode, Version } from "./mqtt-packets.ts";
import type { Decoded, Filters, Gate, GateOptions, Limits } from "./mqtt-types.ts";
import { whole } from "./mqtt-writer.ts";

export { WardgateError, type Code } from "../base/errors.ts";
export type { LoadOptions } from "../pdp/load-options.ts";
export type * from "./mqtt-packets.ts";
export type * from "./mqtt-types.ts";

/** The part of the names of a filter that others match; `part` is a name that they do not match. */
export type Cover = "all" | "none" | { readonly part: string };

/** The options of `decode`. */
export interface DecodeOptions {
  /** The version that client and server speak. A CONNECT is decoded by the version that it states. */
  readonly version: Version;
  /** The bounds of packets. */
  readonly limits?: Limits | undefined;
}

/**
 * MQTT 3.1.1 and 5.0. The errors of all methods are a `TypeError` or `RangeError` if an argument has
 * the wrong kind or value, and else a `WardgateError`; one about MQTT has the `reason` code of 5.0.
 *
 * @example
 *     import { mqtt } from "wardgate/mqtt";
 *
 *     await mqtt.load();
 *     mqtt.matches("sensors/+/temperature", "sensors/a/temperature");
 */
export const mqtt: Mqtt = {
  async load(options: LoadOptions = {}) {
    await loadedModule(readLoad(options));
  },
  matches(filter, name) {
    mustBeText(filter, "a filter");
    mustBeText(name, "a topic name");
    return instance().matches(filter, name);
  },
  cover(asked, patterns) {
    mustBeText(asked, "a filter");
    if (!Array.isArray(patterns)) throw new TypeError(`patterns must be an array, found ${describe(patterns)}`);
    for (const pattern of patterns) mustBeText(pattern, "a pattern");
    const part = instance().cover(asked, patterns);
    if (typeof part === "string") return { part };
    return part ? "all" : "none";
  },
  filters<T>() {
    return new OpenedFilters<T>(instance);
  },
  decode(bytes, options) {
    const { version, limits } = readOptions(options);
    return decode(instance(), mustBeBytes(bytes, "a packet"), version, limits);
  },
  encode(packet, version) {
    return encode(instance(), readPacket(packet), readVersion(version), (bytes, start, end) => bytes.slice(start, end));
  },
  encodeInto(packet, version, target, at = 0) {
    const room = mustBeBytes(target, "the target").length - whole(at, "at", target.length);
    return encode(instance(), readPacket(packet), readVersion(version), (bytes, start, end) => {
      if (end - start > room) throw new RangeError(`the packet has ${end - start} bytes, the target has room for ${room}`);
      target.set(bytes.subarray(start, end), at);
      return end - start;
    });
  },
  gate(pdp, options) {
    return new OpenedGate(instance(), pdp, options);
  },
};

/** The type of {@link mqtt}. */
export interface Mqtt {
  /**
   * Loads the code of the module. Needed before all else where it cannot be read at once, as in
   * browsers. The option `code` supplies the code, as for `open`. Further calls do nothing.
   *
   * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
   */
  load(options?: LoadOptions): Promise<void>;
  /**
   * Returns true if a filter matches a topic name. Of a shared subscription, the filter after the
   * group counts.
   *
   * @throws WardgateError with the code `invalid-filter` or `invalid-topic`.
   */
  matches(filter: string, name: string): boolean;
  /**
   * Decides which part of the names of the filter `asked` some other filters match together. The
   * answer is exact.
   *
   * @throws WardgateError with the code `invalid-filter`.
   *
   * @example
   *     mqtt.cover("a/#", ["a", "a/+/#"]); // "all"
   *     mqtt.cover("a/#", ["a", "a/+"]); // { part: "a/x/x" }
   */
  cover(asked: string, patterns: readonly string[]): Cover;
  /** Makes an empty set of filters with values, such as handlers of messages. */
  filters<T>(): Filters<T>;
  /**
   * Decodes the packet at the front of some bytes. Payloads and other bytes of the packet are views
   * of these bytes.
   *
   * @throws WardgateError with the code `malformed-packet`, `protocol-error`, `too-large`,
   *   `invalid-topic` or `invalid-filter`, and `offset`. Nothing that follows can be decoded.
   */
  decode(bytes: Uint8Array | ArrayBuffer, options: DecodeOptions): Decoded;
  /**
   * Encodes a packet. A CONNECT is encoded in the version that it states. In 3.1.1, properties,
   * reason codes of acknowledgements and options other than QoS are left out.
   *
   * @throws WardgateError as `decode`, if the packet would be refused; `offset` counts in its bytes.
   */
  encode(packet: PacketToEncode, version: Version): Uint8Array<ArrayBuffer>;
  /**
   * Encodes a packet into bytes of the caller from `at` on, and returns the number of bytes; makes
   * no copy for the caller to free.
   *
   * @throws RangeError if the packet does not fit, and else as `encode`; the target is unchanged.
   */
  encodeInto(packet: PacketToEncode, version: Version, target: Uint8Array, at?: number): number;
  /**
   * Makes the gate of a client before a broker: it decides by the policies about `connect` of
   * `mqtt:client`, and `publish`, `subscribe`, `unsubscribe`, `receive` and `will` of `mqtt:topic`,
   * and passes on what is allowed as it came.
   *
   * @example
   *     const gate = mqtt.gate(pdp, { principal: { id: "ada", roles: ["user"] } });
   *     const { forward, reply, close } = gate.fromClient(bytes);
   */
  gate(pdp: Pick<Pdp, "for">, options: GateOptions): Gate;
}

function readOptions(options: DecodeOptions): { version: Version; limits: ReturnType<typeof readLimits> } {
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, found ${describe(options)}`);
  for (const name in options) {
    if (name !== "version" && name !== "limits") throw new TypeError(`unknown option \`${name}\`, expected version or limits`);
  }
  return { version: readVersion(options.version), limits: readLimits(options.limits) };
}

function readVersion(version: unknown): Version {
  if (version === 4 || version === 5) return version;
  throw new RangeError("the version must be 4 for MQTT 3.1.1 or 5 for MQTT 5.0");
}

function readPacket(packet: PacketToEncode): PacketToEncode {
  if (typeof packet === "object" && packet !== null) return packet;
  throw new TypeError(`a packet must be an object, found ${describe(packet)}`);
}

function instance(): MqttInstance {
  if (started === undefined || started.isLost) {
    started = new MqttInstance((loaded ??= known(own.loadNow(EARLY))));
  }
  return started;
}

async function loadedModule(code: LoadOptions["code"]): Promise<WebAssembly.Module> {
  if (loaded !== undefined) return loaded;
  const module = known(await (code === undefined ? own.load() : compile(code)));
  // Another call may have loaded it in the meantime.
  return (loaded ??= module);
}

function known(module: WebAssembly.Module): WebAssembly.Module {
  const lack = mqttMismatch(module);
  if (lack === undefined) return module;
  throw new WardgateError("wrong-code", `the code is not the module of MQTT of this version of the package: ${lack}`);
}

let loaded: WebAssembly.Module | undefined;
let started: MqttInstance | undefined;
const own = new SharedLoader(loader, { name: "the module of MQTT", elsewhere: "`mqtt.load({ code })`" });
const EARLY = "the module of MQTT is not loaded yet: call `await mqtt.load()` before";
