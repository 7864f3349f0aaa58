// The connections of the hub without an accepted CONNECT: few, and not for long.

import { mqtt, type Connect } from "wardgate/mqtt";

import { NotReady } from "../policies.ts";
import { closeCode, closeQuietly, logEnd, POLICY_VIOLATION, REASON, SERVER_UNAVAILABLE_OF_3, TRY_AGAIN_LATER } from "./ends.ts";
import { refusal } from "./gates.ts";
import type { Hub } from "./hub.ts";
import { addressOf, identify } from "./identity.ts";
import { lengthAt } from "./inbox.ts";
import { BEGINNERS, CONNECT_MILLIS } from "./limits.ts";
import type { MqttService } from "./service.ts";
import { attachmentOf, type Attachment, type Session } from "./session.ts";
import { switchingProtocols } from "./upgrade.ts";

export class Entrance {
  readonly #service: MqttService;
  /** The connections, the first one first. */
  readonly #beginners = new Map<number, WebSocket>();

  /** Takes over the connections of before: their time is over. */
  constructor(service: MqttService, sockets: readonly WebSocket[]) {
    this.#service = service;
    for (const socket of sockets) if (!attachmentOf(socket).isOpen) closeQuietly(socket, POLICY_VIOLATION);
  }

  /** Takes a WebSocket. If there are too many, the one that has waited longest is closed. */
  admit(request: Request, state: DurableObjectState): Response {
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    const id = newId();
    state.acceptWebSocket(server);
    const begun = { id, isOpen: false, address: addressOf(request), heard: Date.now(), silence: 0, ends: undefined, hasRest: false };
    server.serializeAttachment(begun satisfies Attachment);
    const [first] = this.#beginners.keys();
    if (first !== undefined && this.#beginners.size >= BEGINNERS) this.#close(first);
    this.#beginners.set(id, server);
    // A timer keeps the hub awake, for as long as a client may take.
    setTimeout(() => this.#close(id), CONNECT_MILLIS);
    return switchingProtocols(client);
  }

  /** Takes the first packets of a client. Returns its session and the packets after CONNECT. */
  async begin(socket: WebSocket, packets: Uint8Array, deciding: () => Promise<Hub>): Promise<Begun | undefined> {
    const { id, address } = attachmentOf(socket);
    const length = lengthAt(packets, 0);
    const first = typeof length === "number" ? packets.subarray(0, length) : packets;
    const connect = connectIn(first);
    const identity = connect && (await identify(connect, address, this.#service));
    if (connect === undefined || identity === undefined) return this.#refuse(id, first);
    const hub = await deciding().catch((thrown: unknown) => this.#delay(id, connect, thrown));
    // Its time may be over.
    if (hub === undefined || !this.#beginners.delete(id)) return undefined;
    const session = hub.begin(socket, connect, first, identity);
    return session && { session, rest: packets.subarray(first.length) };
  }

  /** Takes notice that a connection has ended. */
  leave(id: number): void {
    this.#beginners.delete(id);
  }

  #refuse(id: number, first: Uint8Array): undefined {
    const { reply, close } = refusal(first, this.#service);
    if (close === undefined) return;
    this.#service.counts.add("closed");
    logEnd("", close);
    this.#close(id, reply, closeCode(close));
  }

  /** Refuses a client for the time being, if the reason is that there are no policies. */
  #delay(id: number, { version }: Connect, thrown: unknown): undefined {
    if (!(thrown instanceof NotReady)) throw thrown;
    const reason = version === 5 ? REASON.serverBusy : SERVER_UNAVAILABLE_OF_3;
    this.#close(id, mqtt.encode({ kind: "connack", reason }, version), TRY_AGAIN_LATER);
  }

  #close(id: number, reply?: Uint8Array, code = POLICY_VIOLATION): void {
    const socket = this.#beginners.get(id);
    if (socket === undefined || !this.#beginners.delete(id)) return;
    if (reply !== undefined && reply.length > 0) socket.send(reply);
    closeQuietly(socket, code);
  }
}

/** A session, and the packets that came with its CONNECT. */
interface Begun {
  readonly session: Session;
  readonly rest: Uint8Array;
}

/** Returns the CONNECT in some bytes, if that is what they are. */
export function connectIn(bytes: Uint8Array): Connect | undefined {
  try {
    const found = mqtt.decode(bytes, { version: 5 });
    return found.kind === "whole" && found.packet.kind === "connect" ? found.packet : undefined;
  } catch {
    // The gate says what is wrong with it.
    return undefined;
  }
}

/** Returns a number that no other session has, among those of before too. */
function newId(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high & 0xfffff) * 2 ** 32 + low;
}
