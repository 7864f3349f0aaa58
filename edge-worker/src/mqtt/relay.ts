// The gate in the worker: a client on one side, a broker on the other, both by WebSocket.
//
// The broker is not called before the policies have allowed the CONNECT. A connection lives as long
// as the request that began it.

import { mqtt, type Close, type Gate, type Steps } from "wardgate/mqtt";

import { NotReady } from "../policies.ts";
import { callBroker } from "./broker.ts";
import type { GateMode } from "./config.ts";
import { closeCode, closeQuietly, INTERNAL_ERROR, logEnd, NORMAL, POLICY_VIOLATION, REASON, SERVER_UNAVAILABLE_OF_3, TEXT, TRY_AGAIN_LATER, UNSUPPORTED_DATA } from "./ends.ts";
import { connectIn } from "./entrance.ts";
import { openGate, refusal } from "./gates.ts";
import { addressOf, identify, isTimely, type Identity } from "./identity.ts";
import { Inbox, joined } from "./inbox.ts";
import { CONNECT_BYTES, CONNECT_MILLIS, UNANSWERED_BYTES, WAITING_BYTES } from "./limits.ts";
import { basisOf, type MqttService } from "./service.ts";
import { switchingProtocols } from "./upgrade.ts";

export interface RelaySettings {
  readonly service: MqttService;
  readonly mode: GateMode;
  readonly context: Pick<ExecutionContext, "waitUntil">;
}

export class Relay {
  readonly #settings: RelaySettings;
  readonly #address: string | null;
  readonly #client: Side;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #begun = Date.now();
  /** What the client sends until CONNECT is there, and then what it sends until it is identified. */
  readonly #inbox = new Inbox(CONNECT_BYTES);
  #early: Uint8Array[] | undefined;
  #identity: Identity | undefined;
  #gate: Gate | undefined;
  /** The basis of its decisions: see `basisOf`. */
  #basis: string | undefined;
  #broker: Side | undefined;
  /** What the broker gets once it is reached. */
  #waiting: Uint8Array[] = [];
  #isOver = false;

  private constructor(socket: WebSocket, request: Request, settings: RelaySettings) {
    this.#settings = settings;
    this.#address = addressOf(request);
    this.#client = new Side(socket);
    this.#timer = setInterval(() => this.#guarded(() => this.#tick()), TICK_MILLIS);
    this.#listen(this.#client, (bytes) => this.#fromClient(bytes), (gate) => gate.clientLost());
  }

  /** Takes the WebSocket of a request that was checked. */
  static admit(request: Request, settings: RelaySettings): Response {
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    new Relay(server, request, settings);
    return switchingProtocols(client);
  }

  #listen(side: Side, take: (bytes: Uint8Array) => void | Promise<void>, lost: (gate: Gate) => Steps): void {
    const { socket } = side;
    socket.binaryType = "arraybuffer";
    socket.accept();
    socket.addEventListener("message", ({ data }) => {
      side.unanswered = 0;
      if (typeof data === "string") return this.#guarded(() => this.#refuseText(side, lost));
      this.#guarded(() => take(new Uint8Array(data as ArrayBuffer)));
    });
    for (const event of ["close", "error"] as const) socket.addEventListener(event, () => this.#guarded(() => this.#lose(lost, NORMAL)));
  }

  #fromClient(bytes: Uint8Array): void | Promise<void> {
    if (this.#gate !== undefined) return this.#carryOut(this.#gate.fromClient(bytes));
    if (this.#isOver) return;
    if (this.#early !== undefined) {
      this.#early.push(bytes);
      if (lengthOf(this.#early) > WAITING_BYTES) this.#close(POLICY_VIOLATION);
      return;
    }
    const first = this.#inbox.take(bytes);
    if (first.length === 0) return;
    this.#early = [joined(first, this.#inbox.rest)];
    return this.#begin(first);
  }

  /** Identifies a client, and then gives all that it has sent to a gate. */
  async #begin(first: Uint8Array): Promise<void> {
    const { service, context } = this.#settings;
    const connect = connectIn(first);
    const identity = connect && (await identify(connect, this.#address, service));
    if (identity === undefined) return this.#carryOut(refusal(first, service));
    const pdp = await service.policies.pdp(context).catch((thrown: unknown) => {
      if (!(thrown instanceof NotReady)) throw thrown;
    });
    if (pdp === undefined) return this.#delay(connect!.version);
    if (this.#isOver) return;
    this.#identity = identity;
    this.#basis = basisOf(pdp);
    this.#gate = openGate(pdp, identity, service);
    const early = joined(...this.#early!);
    this.#early = undefined;
    this.#carryOut(this.#gate.fromClient(early));
    if (!this.#isOver) await this.#reach();
  }

  async #reach(): Promise<void> {
    const socket = await callBroker(this.#settings.mode);
    if (socket === undefined) return this.#carryOut(this.#gate?.serverLost());
    this.#broker = new Side(socket);
    this.#listen(this.#broker, (bytes) => this.#fromBroker(bytes), (gate) => gate.serverLost());
    // The client may have gone in the meantime.
    if (this.#isOver) return closeQuietly(socket, NORMAL);
    this.#settings.service.counts.add("accepted");
    this.#send(this.#broker, joined(...this.#waiting.splice(0)));
  }

  #fromBroker(bytes: Uint8Array): void {
    if (this.#gate !== undefined) this.#carryOut(this.#gate.fromServer(bytes));
  }

  /** Lets time pass: for the gate, for the token, and for the policies. */
  async #tick(): Promise<void> {
    if (this.#gate === undefined) {
      if (Date.now() - this.#begun >= CONNECT_MILLIS) this.#close(POLICY_VIOLATION);
      return;
    }
    const { service, context } = this.#settings;
    service.log.send(context);
    this.#carryOut(this.#gate.tick());
    if (this.#identity !== undefined && !isTimely(this.#identity, Date.now())) this.#carryOut(this.#gate?.close(REASON.notAuthorized));
    const basis = basisOf(await service.policies.pdp(context));
    if (basis === this.#basis) return;
    this.#basis = basis;
    this.#carryOut(this.#gate?.reconsider());
  }

  #refuseText(side: Side, lost: (gate: Gate) => Steps): void {
    this.#end({ ...TEXT, side: side === this.#client ? "client" : "broker" });
    this.#lose(lost, UNSUPPORTED_DATA);
  }

  /** Takes notice that the connection to a side has ended, or must. */
  #lose(lost: (gate: Gate) => Steps, code: number): void {
    if (this.#gate !== undefined) this.#carryOut({ ...lost(this.#gate), close: undefined });
    this.#close(code);
  }

  #carryOut(steps: Steps | undefined): void {
    if (steps === undefined || this.#isOver) return;
    const { forward, reply, close, errors } = steps;
    for (const error of errors) console.error(JSON.stringify({ event: "mqtt-decision", message: String(error) }));
    this.#send(this.#client, reply);
    this.#forward(forward);
    if (close === undefined || this.#isOver) return;
    if (!close.isRegular) this.#end(close);
    this.#close(closeCode(close));
  }

  /** Counts and logs an end that is not regular. */
  #end(close: Omit<Close, "isRegular">): void {
    this.#settings.service.counts.add("closed");
    logEnd(this.#identity?.principal.id ?? "", close);
  }

  #forward(bytes: Uint8Array): void {
    if (this.#broker !== undefined) return this.#send(this.#broker, bytes);
    if (bytes.length > 0) this.#waiting.push(bytes.slice());
    if (lengthOf(this.#waiting) > WAITING_BYTES) this.#endSlow();
  }

  #send(side: Side, bytes: Uint8Array): void {
    if (bytes.length === 0 || this.#isOver) return;
    side.send(bytes);
    if (side.unanswered > UNANSWERED_BYTES) this.#endSlow();
  }

  /** Ends the connection because too much waits for one of its sides. */
  #endSlow(): void {
    if (this.#isOver || this.#gate === undefined) return;
    this.#settings.service.counts.add("slow");
    const { reply } = this.#gate.close(REASON.quotaExceeded);
    if (reply.length > 0) this.#client.send(reply);
    this.#close(POLICY_VIOLATION);
  }

  /** Refuses a client for the time being. */
  #delay(version: 4 | 5): void {
    const reason = version === 5 ? REASON.serverBusy : SERVER_UNAVAILABLE_OF_3;
    if (!this.#isOver) this.#client.send(mqtt.encode({ kind: "connack", reason }, version));
    this.#close(TRY_AGAIN_LATER);
  }

  #close(code: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#gate?.dispose();
    this.#gate = undefined;
    this.#waiting = [];
    closeQuietly(this.#client.socket, code);
    if (this.#broker !== undefined) closeQuietly(this.#broker.socket, NORMAL);
  }

  /** Does the work of an event. A failure ends the connection. */
  #guarded(work: () => void | Promise<void>): void {
    const failed = (thrown: unknown): void => {
      console.error(JSON.stringify({ event: "mqtt-failure", message: String(thrown) }));
      this.#close(INTERNAL_ERROR);
    };
    try {
      work()?.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }
}

/** A side of a connection. */
class Side {
  readonly socket: WebSocket;
  /** The bytes that were sent since the side last sent something. */
  unanswered = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
  }

  send(bytes: Uint8Array): void {
    this.unanswered += bytes.length;
    try {
      this.socket.send(bytes);
    } catch {
      // The connection has ended, and its event is on the way.
    }
  }
}

function lengthOf(pieces: readonly Uint8Array[]): number {
  return pieces.reduce((length, piece) => length + piece.length, 0);
}

const TICK_MILLIS = 1000;
