// The hub: sessions, their gates and their ends. It does no I/O but that of its sockets and its
// storage, and needs the policies before it takes a packet.

import type { Pdp } from "wardgate";
import { mqtt, type Close, type Connect, type Gate, type PacketToEncode, type Steps } from "wardgate/mqtt";

import { closeCode, closeQuietly, logEnd, REASON } from "./ends.ts";
import { connackOf, mayPublishWill, OF_HUB, openGate, Questions, readConnect, restoreGate } from "./gates.ts";
import { isTimely, type Identity } from "./identity.ts";
import { Outbox } from "./outbox.ts";
import { accept, packetsIn, publishWill, takePacket } from "./packets.ts";
import { Retained, type Author } from "./retained.ts";
import { Routes } from "./routes.ts";
import { basisOf, type MqttService } from "./service.ts";
import { attachmentOf, deadlineOf, newSession, type Session } from "./session.ts";
import { Store, type Opening } from "./store.ts";

export interface HubSettings {
  readonly service: MqttService;
  /** The keep-alive that clients of 5.0 are told. */
  readonly keepAliveSeconds: number;
}

export class Hub {
  readonly service: MqttService;
  readonly keepAliveSeconds: number;
  readonly sessions = new Map<number, Session>();
  /** The sessions by client id. */
  readonly clients = new Map<string, Session>();
  readonly routes = new Routes();
  readonly outbox = new Outbox();
  readonly store: Store;
  readonly retained: Retained;
  #pdp: Pdp | undefined;
  /** The basis of the decisions about all sessions: see `basisOf`. */
  #basis: string | undefined;
  /** The sessions that were lost, and whose wills are to be published. */
  readonly #lost: { readonly session: Session; readonly opening: Opening }[] = [];

  /** Loads the sessions of some sockets, and ends those whose socket is gone. */
  constructor({ service, keepAliveSeconds }: HubSettings, sql: SqlStorage, sockets: readonly WebSocket[]) {
    this.service = service;
    this.keepAliveSeconds = keepAliveSeconds;
    this.store = new Store(sql);
    this.retained = new Retained(sql, service.counts);
    this.#load(new Map(sockets.map((socket) => [attachmentOf(socket).id, socket])));
  }

  /** Takes the policies in use. Where they are others than before, everything is decided again. */
  decide(pdp: Pdp): void {
    this.#pdp = pdp;
    const basis = basisOf(pdp);
    if (basis === (this.#basis ??= this.store.basis)) return;
    for (const session of [...this.sessions.values()]) this.#reconsider(session);
    const questions = new Questions(pdp, this.service);
    this.retained.reconsider(questions.mayPublish);
    questions.dispose();
    this.store.basis = this.#basis = basis;
  }

  /** Decides again if the policies in use have changed since the last time. */
  decideAgain(): void {
    if (this.#pdp !== undefined) this.decide(this.#pdp);
  }

  /** Returns the time at which the policies expire. */
  get policiesEnd(): number {
    const expires = this.#pdp?.header.expires;
    return expires === undefined || expires <= Date.now() ? Infinity : expires;
  }

  /** Takes notice that a client has sent a packet which needs no hub. */
  heard(id: number): void {
    const session = this.sessions.get(id);
    if (session !== undefined) this.outbox.answered(session);
  }

  /** Takes the CONNECT of a client that has proved an identity. Returns the session, if one begins. */
  begin(socket: WebSocket, connect: Connect, bytes: Uint8Array, identity: Identity): Session | undefined {
    const session = newSession(socket, connect);
    session.gate = openGate(this.#decided(), identity, this.service, OF_HUB);
    const { forward, ...steps } = session.gate.fromClient(bytes);
    this.#carryOut(session, steps);
    if (!session.isOver) accept(this, session, { connect: forward.slice(), identity });
    return session.isOver ? undefined : session;
  }

  /** Takes packets of a client. */
  take(session: Session, bytes: Uint8Array): void {
    this.outbox.answered(session);
    const gate = this.gateOf(session);
    if (gate === undefined) return;
    const { forward, ...steps } = gate.fromClient(bytes);
    // The answers of the gate first: what it passes on may end the session.
    this.outbox.add(session, steps.reply);
    for (const packet of packetsIn(forward, session.version)) if (!session.isOver) takePacket(this, session, packet);
    this.#carryOut(session, { ...steps, reply: NOTHING });
  }

  /** Answers a client with a packet. */
  reply(session: Session, packet: PacketToEncode): void {
    const gate = this.gateOf(session);
    if (gate !== undefined) this.#carryOut(session, gate.fromServer(mqtt.encode(packet, session.version)));
  }

  /** Returns the gate of a session. One whose client has lost a right during a sleep is ended. */
  gateOf(session: Session): Gate | undefined {
    if (session.gate !== undefined || session.isOver) return session.gate;
    const opening = this.#openingOf(session);
    const connack = connackOf(readConnect(opening.connect), session.clientId, this.keepAliveSeconds);
    const subscriptions = this.store.subscriptionsOf(session.id);
    session.gate = restoreGate(this.#decided(), opening, { connack, subscriptions }, this.service);
    if (session.gate === undefined) this.end(session, REASON.notAuthorized, "a right is gone");
    return session.gate;
  }

  /** Returns the publisher of what a client retains. */
  authorOf(session: Session): Author {
    return { identity: this.#openingOf(session).identity, clientId: session.clientId };
  }

  /** Ends a session, and tells its client why. */
  end(session: Session, reason: number, message: string): void {
    if (session.isOver) return;
    const { gate, version } = session;
    if (gate !== undefined) this.outbox.add(session, gate.close(reason).reply);
    else if (version === 5) this.outbox.add(session, mqtt.encode({ kind: "disconnect", reason }, 5));
    this.#finish(session, { side: "gate", reason, isRegular: false, offset: 0, message });
  }

  /** Ends a session after a failure, without its gate, which may have been the cause. */
  fail(session: Session, reason: number): void {
    session.gate = undefined;
    this.end(session, reason, "a failure");
    this.outbox.flush();
  }

  /** Ends a session without a word, as its connection has ended or must. */
  leave(session: Session, code: number): void {
    if (session.isOver) return;
    this.outbox.flushOne(session);
    this.outbox.answered(session);
    session.isOver = true;
    session.gate?.dispose();
    session.gate = undefined;
    if (session.socket !== undefined) closeQuietly(session.socket, code);
    if (this.sessions.get(session.id) === session) this.#remove(session);
  }

  /** There are wills to be published, for which the hub has no policies yet. */
  get needsPolicies(): boolean {
    return this.#lost.length > 0 && this.#pdp === undefined;
  }

  /** Ends the sessions that were silent for too long, or whose token has ended. */
  endOverdue(now: number): void {
    for (const session of [...this.sessions.values()]) {
      const attachment = attachmentOf(session.socket!);
      if (!isTimely(attachment, now)) this.end(session, REASON.notAuthorized, "the token has ended");
      else if (deadlineOf(attachment) <= now) this.end(session, REASON.keepAliveTimeout, "silence for longer than the keep-alive");
    }
  }

  /** Returns the next time at which `endOverdue` has something to do. */
  get deadline(): number {
    let next = Infinity;
    for (const { socket } of this.sessions.values()) next = Math.min(next, deadlineOf(attachmentOf(socket!)));
    return next;
  }

  /** Finishes an event: publishes wills, ends the clients that have stopped to read, and sends. */
  flush(): void {
    do {
      this.#publishWills();
      for (const session of this.outbox.slow()) this.#endSlow(session);
    } while (this.#lost.length > 0 && this.#pdp !== undefined);
    this.outbox.flush();
  }

  #load(sockets: ReadonlyMap<number, WebSocket>): void {
    for (const { id, client, version, takes, hasWill } of this.store.sessions()) {
      const socket = sockets.get(id);
      const subscriptions = new Map();
      const session: Session = { id, socket, version, clientId: client, takes, hasWill, gate: undefined, subscriptions, unanswered: 0, isOver: false };
      this.sessions.set(id, session);
      this.clients.set(client, session);
    }
    for (const { session, ...subscription } of this.store.subscriptions()) {
      const known = this.sessions.get(session);
      if (known !== undefined) this.routes.add(known, subscription);
    }
    for (const session of [...this.sessions.values()]) if (session.socket === undefined) this.leave(session, 0);
  }

  /** Takes a session out of all tables. */
  #remove(session: Session): void {
    if (session.hasWill) this.#lost.push({ session, opening: this.#openingOf(session) });
    this.routes.removeAll(session);
    this.sessions.delete(session.id);
    if (this.clients.get(session.clientId) === session) this.clients.delete(session.clientId);
    this.store.removeSession(session.id);
  }

  #reconsider(session: Session): void {
    if (session.gate === undefined) this.gateOf(session);
    else this.#carryOut(session, session.gate.reconsider());
  }

  #publishWills(): void {
    if (this.#pdp === undefined) return;
    for (const { session, opening } of this.#lost.splice(0)) {
      if (mayPublishWill(this.#pdp, opening, this.service)) publishWill(this, session, opening);
    }
  }

  #carryOut(session: Session, { reply, close, errors }: Omit<Steps, "forward">): void {
    for (const error of errors) console.error(JSON.stringify({ event: "mqtt-decision", message: String(error) }));
    this.outbox.add(session, reply);
    if (close !== undefined && !session.isOver) this.#finish(session, close);
  }

  #finish(session: Session, close: Close): void {
    if (!close.isRegular) {
      this.service.counts.add("closed");
      logEnd(session.clientId, close);
    }
    this.leave(session, closeCode(close));
  }

  #endSlow(session: Session): void {
    this.service.counts.add("slow");
    this.end(session, REASON.quotaExceeded, "the client does not read");
  }

  #openingOf({ id }: Session): Opening {
    const opening = this.store.opening(id);
    if (opening === undefined) throw new Error("a session is not in the storage");
    return opening;
  }

  #decided(): Pdp {
    if (this.#pdp === undefined) throw new Error("the hub has no policies yet");
    return this.#pdp;
  }
}

const NOTHING = new Uint8Array();
