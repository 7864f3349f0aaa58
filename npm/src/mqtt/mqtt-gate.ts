// Gates between clients and a broker. The module has the protocol, and a PDP decides.

import { copyOf, describe, mustBeBytes } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { knownMembers, readFlag, readOneOf, readWhole } from "../base/option.ts";
import type { Pdp } from "../pdp/types.ts";
import { FROM_CLIENT, type MqttInstance, type GateOutput } from "./mqtt-abi.ts";
import { GateJudge } from "./mqtt-judge.ts";
import { GATE_NAMES, readLimits } from "./mqtt-limits.ts";
import type { Close, Gate, GateOptions, Steps } from "./mqtt-types.ts";

/** A gate in an instance of the module. */
interface Lease {
  readonly instance: MqttInstance;
  readonly gate: number;
}

export class OpenedGate implements Gate {
  readonly #judge: GateJudge;
  readonly #clock: () => number;
  #lease: Lease | undefined;

  constructor(instance: MqttInstance, pdp: Pick<Pdp, "for">, options: GateOptions) {
    const { principal, auxData, limits, choices, connectMillis, connackMillis, clock } = readOptions(pdp, options);
    this.#judge = new GateJudge({ pdp, principal, auxData });
    this.#clock = clock;
    instance.limit(limits);
    const lease = { instance, gate: instance.openGate(choices, connectMillis, connackMillis, millis(clock)) };
    this.#lease = lease;
    net?.register(this, lease, this);
  }

  fromClient(bytes: Uint8Array | ArrayBuffer): Steps {
    return this.#take(FROM_CLIENT, mustBeBytes(bytes, "what the client sent"));
  }

  fromServer(bytes: Uint8Array | ArrayBuffer): Steps {
    return this.#take(FROM_SERVER, mustBeBytes(bytes, "what the broker sent"));
  }

  tick(): Steps {
    return this.#tell(TICK, millis(this.#clock));
  }

  reconsider(): Steps {
    return this.#tell(RECONSIDER, 0);
  }

  serverLost(): Steps {
    return this.#tell(SERVER_LOST, 0);
  }

  clientLost(): Steps {
    return this.#tell(CLIENT_LOST, 0);
  }

  close(reason: number): Steps {
    if (!Number.isInteger(reason) || reason < 0x80 || reason > 0xff) {
      throw new RangeError(`the reason must be a reason code from 128 to 255, found ${reason}`);
    }
    return this.#tell(CLOSE, reason);
  }

  dispose(): void {
    if (this.#lease === undefined) return;
    net?.unregister(this);
    free(this.#lease);
    this.#lease = undefined;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #take(event: number, given: Uint8Array): Steps {
    // Another thread could change shared bytes after they were decided, and before they are sent.
    const bytes = given.buffer instanceof ArrayBuffer ? given : copyOf(given);
    this.#mustBeOpen().buffer(bytes.length).set(bytes);
    return this.#tell(event, bytes.length, bytes);
  }

  #tell(event: number, number: number, bytes?: Uint8Array): Steps {
    const instance = this.#mustBeOpen();
    const judge = this.#judge;
    const told = instance.tell(this.#lease!.gate, event, number, judge.answer);
    const errors = judge.errors;
    if (errors.length > 0) judge.errors = [];
    const same = told.isSame ? bytes : undefined;
    return {
      forward: event === FROM_CLIENT ? (same ?? told.toServer) : told.toServer,
      reply: event === FROM_SERVER ? (same ?? told.toClient) : told.toClient,
      close: told.side === 0 ? undefined : closeOf(told),
      errors: errors.length > 0 ? errors : NO_ERRORS,
    };
  }

  #mustBeOpen(): MqttInstance {
    if (this.#lease === undefined) throw new WardgateError("disposed", "this gate is disposed");
    const { instance } = this.#lease;
    if (instance.isLost) throw new WardgateError("internal", "the module of MQTT failed, and this gate is lost");
    return instance;
  }
}

function closeOf({ side, reason, isRegular, offset, message }: GateOutput): Close {
  return { side: SIDES[side]!, reason, isRegular, offset, message };
}

function readOptions(pdp: unknown, options: GateOptions): ReadOptions {
  if (typeof (pdp as Partial<Pdp> | null | undefined)?.for !== "function") throw new TypeError(`a gate needs a PDP, found ${describe(pdp)}`);
  if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, found ${describe(options)}`);
  const members = knownMembers(options, NAMES);
  const { principal, auxData, clock = () => performance.now() } = options;
  if (typeof principal !== "function" && (typeof principal !== "object" || principal === null)) {
    throw new TypeError(`option \`principal\` must be a principal or a function, found ${describe(principal)}`);
  }
  if (typeof clock !== "function") throw new TypeError(`option \`clock\` must be a function, found ${describe(clock)}`);
  const { limits = {}, maxPacketBytes } = options;
  if (typeof limits !== "object" || limits === null) throw new TypeError(`option \`limits\` must be an object, found ${describe(limits)}`);
  if ("packetBytes" in limits) throw new TypeError("limit `packetBytes` of a gate is the option `maxPacketBytes`");
  const drops = readOneOf(members.get("denied"), "denied", ["close", "drop"]) === "drop" ? 1 : 0;
  const each = readOneOf(members.get("deliver"), "deliver", ["subscribed", "each"]) === "each" ? 2 : 0;
  const passes = readFlag(members.get("passPassword"), "passPassword") === true ? 4 : 0;
  const seconds = (name: string, usual: number): number => 1000 * (readWhole(members.get(name), name, MAX_SECONDS) ?? usual);
  return {
    principal,
    auxData,
    clock,
    limits: readLimits({ ...limits, packetBytes: maxPacketBytes }, GATE_NAMES),
    choices: drops | each | passes,
    connectMillis: seconds("connectSeconds", 5),
    connackMillis: seconds("connackSeconds", 10),
  };
}

interface ReadOptions extends Pick<GateOptions, "principal"> {
  readonly auxData: GateOptions["auxData"];
  readonly clock: () => number;
  readonly limits: ReturnType<typeof readLimits>;
  readonly choices: number;
  readonly connectMillis: number;
  readonly connackMillis: number;
}

/** Returns the time in whole milliseconds. */
function millis(clock: () => number): number {
  const now = Math.floor(clock());
  if (Number.isSafeInteger(now) && now >= 0) return now;
  throw new RangeError(`the clock must give milliseconds from 0 on, found ${now}`);
}

// Only a safety net, as for sets of filters.
const net = "FinalizationRegistry" in globalThis ? new FinalizationRegistry<Lease>(free) : undefined;

function free({ instance, gate }: Lease): void {
  instance.closeGate(gate);
}

const NAMES = [
  "principal", "auxData", "maxPacketBytes", "limits", "denied", "deliver", "passPassword", "connectSeconds", "connackSeconds", "clock",
];
const SIDES = [undefined, "client", "broker", "gate"] as const;
const NO_ERRORS: readonly unknown[] = Object.freeze([]);
const MAX_SECONDS = 3600;

/** The events of the module. */
const FROM_SERVER = 1;
const TICK = 2;
const RECONSIDER = 3;
const SERVER_LOST = 4;
const CLIENT_LOST = 5;
const CLOSE = 6;
