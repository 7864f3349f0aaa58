// The gates of the hub. A gate is not stored: after a sleep it is made anew from what its client
// has sent, which decides all of it again.

import type { Pdp } from "wardgate";
import { mqtt, type Connack, type Connect, type Gate, type GateOptions, type PacketToEncode, type Steps, type Subscription, type Version } from "wardgate/mqtt";

import { REASON } from "./ends.ts";
import { deciderOf, withoutConnect, type Decider } from "./decider.ts";
import type { Identity } from "./identity.ts";
import { CONNECT_BYTES } from "./limits.ts";
import type { Author, Kept } from "./retained.ts";
import { optionsOf } from "./routes.ts";
import type { MqttService } from "./service.ts";
import type { Opening, StoredSubscription } from "./store.ts";

/** Returns a gate for a client, before its CONNECT. */
export function openGate(pdp: Pdp, identity: Identity, service: MqttService, more: Partial<GateOptions> = {}): Gate {
  return gateOf(deciderOf(pdp, identity, service), identity, { ...service.settings.gate, ...more });
}

/** Returns the answer to the first bytes of a client that has proved no identity, or sent no CONNECT. */
export function refusal(bytes: Uint8Array, { settings }: Pick<MqttService, "settings">): Steps {
  using gate = mqtt.gate(NOBODY, { principal: () => undefined, ...settings.gate });
  const steps = gate.fromClient(bytes);
  return steps.close === undefined ? gate.close(REASON.unspecified) : steps;
}

/** Makes the gate of a session anew. Returns `undefined` if a right of its client is gone. */
export function restoreGate(
  pdp: Pdp,
  { connect, identity }: Opening,
  { connack, subscriptions }: { readonly connack: PacketToEncode; readonly subscriptions: readonly StoredSubscription[] },
  service: MqttService,
): Gate | undefined {
  const { version } = readConnect(connect);
  const gate = openGate(pdp, identity, service, RESTORED);
  const isRestored =
    gate.fromClient(connect).close === undefined &&
    gate.fromServer(mqtt.encode(connack, version)).close === undefined &&
    batches(subscriptions).every((some) => isSubscribed(gate, some, version));
  if (isRestored) return gate;
  gate.dispose();
  return undefined;
}

/** Decides if the will in a CONNECT may be published. */
export function mayPublishWill(pdp: Pdp, { connect, identity }: Opening, service: MqttService): boolean {
  using gate = gateOf(withoutConnect(deciderOf(pdp, identity, service)), identity, { ...service.settings.gate, ...RESTORED });
  const { forward, close } = gate.fromClient(connect);
  return close === undefined && forward.length > 0;
}

/** Decides if messages of one publisher after another may still be there. */
export class Questions {
  readonly #pdp: Pdp;
  readonly #service: MqttService;
  #open: { readonly author: string; readonly version: Version; readonly gate: Gate } | undefined;

  constructor(pdp: Pdp, service: MqttService) {
    this.#pdp = pdp;
    this.#service = service;
  }

  readonly mayPublish = ({ author, version, packet }: Kept): boolean => {
    const { forward, close } = this.#gate(author, version).fromClient(packet);
    if (close !== undefined) this.dispose();
    return close === undefined && forward.length > 0;
  };

  dispose(): void {
    this.#open?.gate.dispose();
    this.#open = undefined;
  }

  /** Messages of one publisher come in succession, and share a gate. */
  #gate({ identity, clientId }: Author, version: Version): Gate {
    const author = JSON.stringify([identity, clientId]);
    if (this.#open?.author === author && this.#open.version === version) return this.#open.gate;
    this.dispose();
    const decider = withoutConnect(deciderOf(this.#pdp, identity, this.#service));
    const gate = gateOf(decider, identity, this.#service.settings.gate);
    gate.fromClient(mqtt.encode({ kind: "connect", version, clientId }, version));
    gate.fromServer(mqtt.encode({ kind: "connack" }, version));
    this.#open = { author, version, gate };
    return gate;
  }
}

/** Returns the CONNECT in bytes that a gate has passed on. */
export function readConnect(bytes: Uint8Array): Connect {
  const found = mqtt.decode(bytes, { version: 5, limits: WIDEST });
  if (found.kind === "whole" && found.packet.kind === "connect") return found.packet;
  throw new Error("a stored CONNECT is damaged");
}

/** The options of gates of the hub. It has no memory for topic aliases over a sleep. */
export const OF_HUB = { limits: { aliases: 0 } } satisfies Partial<GateOptions>;

/** The properties that a gate adds to CONNECT make it longer. */
const RESTORED = { limits: { aliases: 0, connectBytes: CONNECT_BYTES + 64 } } satisfies Partial<GateOptions>;

/** Returns the CONNACK of an accepted client. */
export function connackOf(connect: Connect, clientId: string, keepAliveSeconds: number): Pick<Connack, "kind" | "properties"> {
  if (connect.version === 4) return { kind: "connack", properties: {} };
  const { sessionExpiryInterval = 0 } = connect.properties;
  return {
    kind: "connack",
    properties: {
      maximumQos: 1,
      serverKeepAlive: keepAliveSeconds,
      ...(sessionExpiryInterval > 0 && { sessionExpiryInterval: 0 }),
      ...(connect.clientId === "" && { assignedClientIdentifier: clientId }),
    },
  };
}

function gateOf(decider: Decider, { principal, auxData }: Identity, options: Partial<GateOptions>): Gate {
  return mqtt.gate(decider, { ...options, principal, auxData });
}

function isSubscribed(gate: Gate, subscriptions: readonly Subscription[], version: Version): boolean {
  const asked = mqtt.encode({ kind: "subscribe", id: 1, subscriptions }, version);
  // What is allowed as a whole is passed on as it came.
  if (gate.fromClient(asked).forward.length !== asked.length) return false;
  const reasons = subscriptions.map(() => 0);
  return gate.fromServer(mqtt.encode({ kind: "suback", id: 1, reasons }, version)).close === undefined;
}

/** Returns subscriptions in lists as long as a SUBSCRIBE may have. */
function batches(subscriptions: readonly StoredSubscription[]): Subscription[][] {
  const all = subscriptions.map(({ filter, options }) => optionsOf(filter, options));
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, at) => all.slice(at * BATCH, (at + 1) * BATCH));
}

/** The filters of a SUBSCRIBE: the bound of gates. */
const BATCH = 64;
const NOBODY: Decider = { for: () => ({ isAllowed: () => false }) as never };
const WIDEST = { packetBytes: 268_435_460, connectBytes: 268_435_460, topicBytes: 65_535, topicLevels: 128, userProperties: 65_535, userPropertyBytes: 2 ** 32 - 1 };
