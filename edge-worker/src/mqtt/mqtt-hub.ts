// The Durable Object of the hub: events of its WebSockets, and time.
//
// It hibernates while nothing happens, and its WebSockets stay. An event brings back only what it
// needs: a PINGREQ the attachment of its socket, a lost connection the sessions, and a packet the
// policies too. Timers would keep it awake, so that time passes by its alarm.

import { DurableObject } from "cloudflare:workers";
import { WardgateError } from "wardgate";

import { json, Problem } from "../http.ts";
import { NotReady } from "../policies.ts";
import { closeQuietly, INTERNAL_ERROR, logEnd, NORMAL, REASON, TEXT, UNSUPPORTED_DATA } from "./ends.ts";
import { Entrance } from "./entrance.ts";
import type { MqttEnv } from "./env.ts";
import { Hub } from "./hub.ts";
import { isTimely } from "./identity.ts";
import { Inbox, joined } from "./inbox.ts";
import { CONNECT_BYTES } from "./limits.ts";
import { createService, type MqttService } from "./service.ts";
import { attachmentOf, deadlineOf, touch, type Attachment } from "./session.ts";

export class MqttHub extends DurableObject<MqttEnv> {
  #creating: Promise<MqttService> | undefined;
  #parts: Parts | undefined;
  /** The sockets with the beginning of a packet, by the numbers of their sessions. */
  readonly #inboxes = new Map<number, { readonly socket: WebSocket; readonly inbox: Inbox }>();
  #isSettling = false;
  /** The time of the alarm, as far as it is known. */
  #alarmAt: number | undefined;

  /** Takes a WebSocket, or returns the counts. The worker has checked the request. */
  override async fetch(request: Request): Promise<Response> {
    const { hub, entrance } = await this.#loaded();
    if (request.headers.get("Upgrade") !== null) return entrance.admit(request, this.ctx);
    const { counts, policies, log } = hub.service;
    const own = { clients: hub.sessions.size, subscriptions: hub.routes.count, retained: hub.retained.size };
    return json({ ...counts.read(), ...own, policies: policies.health(), log: { lost: log.lost } });
  }

  override async webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): Promise<void> {
    // What comes after the end of a session is nobody's.
    if (socket.readyState !== OPEN) return;
    await this.#guarded(socket, async () => {
      if (typeof message === "string") return this.#refuseText(socket);
      const bytes = new Uint8Array(message);
      if (this.#answersPing(socket, bytes)) return;
      const packets = (await this.#inboxOf(socket)).take(bytes);
      if (packets.length === 0) return this.#settle();
      await this.#take(socket, packets);
    });
  }

  override async webSocketClose(socket: WebSocket): Promise<void> {
    await this.#guarded(socket, () => this.#lose(socket, NORMAL));
  }

  override async webSocketError(socket: WebSocket): Promise<void> {
    await this.#guarded(socket, () => this.#lose(socket, NORMAL));
  }

  /** Ends the clients that are overdue, and looks at the policies. */
  override async alarm(): Promise<void> {
    this.#alarmAt = Infinity;
    await this.#guarded(undefined, async () => {
      const { hub } = await this.#loaded();
      hub.endOverdue(Date.now());
      hub.retained.expire(Date.now());
      if (hub.sessions.size > 0 || hub.needsPolicies) await this.#deciding();
    });
    const hub = this.#parts?.hub;
    if (hub !== undefined && hub.sessions.size > 0) await this.#setAlarm(hub.deadline);
  }

  /**
   * Answers a PINGREQ that comes alone. Nothing else of a quiet client of 3.1.1 comes, so that this
   * must cost little: neither sessions nor policies are looked at.
   */
  #answersPing(socket: WebSocket, bytes: Uint8Array): boolean {
    const attachment = attachmentOf(socket);
    const { id, isOpen, hasRest } = attachment;
    const now = Date.now();
    const isPing = bytes.length === 2 && bytes[0] === 0xc0 && bytes[1] === 0;
    if (!isPing || !isOpen || hasRest || this.#inboxes.has(id) || !isTimely(attachment, now)) return false;
    touch(socket, now);
    this.#parts?.hub.heard(id);
    socket.send(PINGRESP);
    return true;
  }

  /** Takes whole packets of a client. */
  async #take(socket: WebSocket, packets: Uint8Array): Promise<void> {
    touch(socket, Date.now());
    const attachment = attachmentOf(socket);
    if (!attachment.isOpen) return this.#begin(socket, packets);
    const hub = await this.#deciding();
    const session = hub.sessions.get(attachment.id);
    if (session === undefined) return closeQuietly(socket, INTERNAL_ERROR);
    if (isTimely(attachment, Date.now())) hub.take(session, packets);
    else hub.end(session, REASON.notAuthorized, "the token has ended");
    this.#tidy(socket, hub);
  }

  /** Takes the first packets of a client, and then those that came with its CONNECT. */
  async #begin(socket: WebSocket, packets: Uint8Array): Promise<void> {
    const { id } = attachmentOf(socket);
    const { entrance } = await this.#loaded();
    const begun = await entrance.begin(socket, packets, () => this.#deciding());
    const before = this.#inboxes.get(id)?.inbox.rest;
    this.#inboxes.delete(id);
    if (begun === undefined) return;
    const more = (await this.#inboxOf(socket)).take(joined(begun.rest, before ?? NOTHING));
    if (more.length > 0) await this.#take(socket, more);
    else this.#settle();
    if (!begun.session.isOver) await this.#setAlarm(deadlineOf(attachmentOf(socket)));
  }

  async #refuseText(socket: WebSocket): Promise<void> {
    const { hub } = await this.#loaded();
    hub.service.counts.add("closed");
    logEnd(hub.sessions.get(attachmentOf(socket).id)?.clientId ?? "", { ...TEXT, side: "client" });
    await this.#lose(socket, UNSUPPORTED_DATA);
  }

  /** Takes notice that a connection has ended, or ends it without a word. */
  async #lose(socket: WebSocket, code: number): Promise<void> {
    const { id, isOpen } = attachmentOf(socket);
    this.#inboxes.delete(id);
    closeQuietly(socket, code);
    const { hub, entrance } = await this.#loaded();
    if (!isOpen) return entrance.leave(id);
    const session = hub.sessions.get(id);
    if (session !== undefined) hub.leave(session, code);
    if (hub.needsPolicies) await this.#deciding();
  }

  /** Returns the inbox of a connection, with the beginning of a packet from before a sleep. */
  async #inboxOf(socket: WebSocket): Promise<Inbox> {
    const { id, isOpen, hasRest } = attachmentOf(socket);
    const known = this.#inboxes.get(id);
    if (known !== undefined) return known.inbox;
    const { hub } = await this.#loaded();
    const inbox = new Inbox(isOpen ? hub.service.settings.gate.maxPacketBytes : CONNECT_BYTES);
    if (hasRest) inbox.take(hub.store.rest(id));
    this.#inboxes.set(id, { socket, inbox });
    return inbox;
  }

  /** Drops the inbox of a connection that has sent whole packets only. */
  #tidy(socket: WebSocket, hub: Hub): void {
    const attachment = attachmentOf(socket);
    const { id, hasRest } = attachment;
    if (this.#inboxes.get(id)?.inbox.rest.length !== 0) return this.#settle();
    this.#inboxes.delete(id);
    if (!hasRest) return;
    hub.store.removeRest(id);
    socket.serializeAttachment({ ...attachment, hasRest: false } satisfies Attachment);
  }

  /** Stores the beginnings of packets in a while, before the hub can sleep. */
  #settle(): void {
    if (this.#isSettling) return;
    this.#isSettling = true;
    setTimeout(() => {
      this.#isSettling = false;
      for (const { socket, inbox } of this.#inboxes.values()) this.#storeRest(socket, inbox);
    }, SETTLE_MILLIS);
  }

  #storeRest(socket: WebSocket, { rest }: Inbox): void {
    const attachment = attachmentOf(socket);
    const store = this.#parts?.hub.store;
    // A connection without CONNECT keeps the hub awake, until its time is over.
    if (store === undefined || rest.length === 0 || !attachment.isOpen) return;
    store.setRest(attachment.id, rest);
    socket.serializeAttachment({ ...attachment, hasRest: true } satisfies Attachment);
  }

  /** Returns the hub with the policies in use. */
  async #deciding(): Promise<Hub> {
    const { policies } = (await this.#loaded()).hub.service;
    const pdp = await policies.pdp({ waitUntil: (work) => this.ctx.waitUntil(work.then(() => this.#polled())) });
    const { hub } = await this.#loaded();
    hub.decide(pdp);
    return hub;
  }

  /** Decides again if a poll has brought other policies. */
  async #polled(): Promise<void> {
    await this.#guarded(undefined, async () => this.#parts?.hub.decideAgain());
  }

  async #loaded(): Promise<Parts> {
    if (this.#parts !== undefined) return this.#parts;
    this.#creating ??= createService(this.env);
    const service = await this.#creating;
    const { mode } = service.settings;
    if (mode.kind !== "hub") throw new Problem(503, "not-configured", "the hub is not bound");
    return (this.#parts ??= this.#load(service, mode.keepAliveSeconds, mode.recheckMillis));
  }

  #load(service: MqttService, keepAliveSeconds: number, recheckMillis: number): Parts {
    const sockets = this.ctx.getWebSockets();
    const hub = new Hub({ service, keepAliveSeconds }, this.ctx.storage.sql, sockets);
    return { hub, entrance: new Entrance(service, sockets), recheckMillis };
  }

  async #setAlarm(deadline: number): Promise<void> {
    if (this.#parts === undefined) return;
    const { hub, recheckMillis } = this.#parts;
    const now = Date.now();
    const at = Math.max(now + SETTLE_MILLIS, Math.min(deadline, hub.policiesEnd, now + recheckMillis));
    this.#alarmAt ??= (await this.ctx.storage.getAlarm()) ?? Infinity;
    if (at >= this.#alarmAt) return;
    this.#alarmAt = at;
    await this.ctx.storage.setAlarm(at);
  }

  /** Runs the work of an event, and sends what it has for clients. A failure ends its client. */
  async #guarded(socket: WebSocket | undefined, work: () => Promise<void> | void): Promise<void> {
    try {
      await work();
      this.#parts?.hub.flush();
    } catch (thrown) {
      this.#failed(socket, thrown);
    }
    this.#parts?.hub.service.log.send(this.ctx);
  }

  #failed(socket: WebSocket | undefined, thrown: unknown): void {
    if (!(thrown instanceof NotReady)) console.error(JSON.stringify({ event: "mqtt-failure", message: String(thrown) }));
    // The next event loads everything anew, and ends what cannot go on.
    if (thrown instanceof WardgateError && thrown.code === "internal") this.#parts = undefined;
    if (socket === undefined) return;
    const session = this.#parts?.hub.sessions.get(attachmentOf(socket).id);
    if (session === undefined) return closeQuietly(socket, INTERNAL_ERROR);
    this.#parts?.hub.fail(session, thrown instanceof NotReady ? REASON.serverBusy : REASON.unspecified);
  }
}

/** What is in memory while the hub is awake. */
interface Parts {
  readonly hub: Hub;
  readonly entrance: Entrance;
  readonly recheckMillis: number;
}

/** `readyState` of a WebSocket that neither side has closed. */
const OPEN = 1;
const PINGRESP = Uint8Array.of(0xd0, 0);
const NOTHING = new Uint8Array();
/** The milliseconds after which the beginning of a packet is stored; the least time until an alarm. */
const SETTLE_MILLIS = 1000;
