// What the hub does with the packets that its gates have passed on. They are valid and allowed.

import { mqtt, type Packet, type Publish, type Subscribe, type Unsubscribe, type Version } from "wardgate/mqtt";

import { REASON } from "./ends.ts";
import { connackOf, readConnect } from "./gates.ts";
import type { Hub } from "./hub.ts";
import { CLIENTS, IDENTIFIERS, SUBSCRIPTIONS } from "./limits.ts";
import { Outgoing, type Message } from "./message.ts";
import { isShared, optionsByte, type Target } from "./routes.ts";
import { openAttachment, type Session } from "./session.ts";
import type { Opening } from "./store.ts";

/** Accepts a client whose CONNECT is allowed, or refuses it for what the hub cannot do. */
export function accept(hub: Hub, session: Session, opening: Opening): void {
  const connect = readConnect(opening.connect);
  const old = hub.clients.get(session.clientId);
  const { authenticationMethod } = connect.properties;
  if (authenticationMethod !== undefined) return hub.end(session, REASON.badAuthenticationMethod, "an authentication method");
  // 3.1.1 has no bound on the QoS of a will, and it is delivered at QoS 0 like all others.
  if (connect.version === 5 && connect.will?.qos === 2) return hub.end(session, REASON.qosNotSupported, "a will of QoS 2");
  if (old === undefined && hub.sessions.size >= CLIENTS) return hub.end(session, REASON.serverBusy, "too many clients");
  if (old !== undefined) hub.end(old, REASON.sessionTakenOver, "another connection has the client id");
  hub.store.addSession({ ...session, client: session.clientId }, opening);
  hub.sessions.set(session.id, session);
  hub.clients.set(session.clientId, session);
  const seconds = connect.version === 5 ? hub.keepAliveSeconds : connect.keepAlive;
  openAttachment(session.socket!, seconds, opening.identity);
  hub.service.counts.add("accepted");
  hub.reply(session, connackOf(connect, session.clientId, hub.keepAliveSeconds));
}

/** Takes a packet of an accepted client. */
export function takePacket(hub: Hub, session: Session, packet: Packet): void {
  switch (packet.kind) {
    case "publish":
      return publish(hub, session, packet);
    case "subscribe":
      return subscribe(hub, session, packet);
    case "unsubscribe":
      return unsubscribe(hub, session, packet);
    case "pingreq":
      return hub.reply(session, { kind: "pingresp" });
    case "disconnect":
      if (packet.reason === REASON.success) session.hasWill = false;
      return;
    case "pubrel":
      // No message has QoS 2, so there is none to be released.
      return hub.reply(session, { kind: "pubcomp", id: packet.id, reason: REASON.packetIdentifierNotFound });
    default:
      // No delivery waits for an acknowledgement, and a gate passes nothing else on.
      return;
  }
}

/** Publishes the will of a client that was lost, and which may still do so. */
export function publishWill(hub: Hub, session: Session, { connect, identity }: Opening): void {
  const { will } = readConnect(connect);
  if (will === undefined) return;
  route(hub, will, undefined);
  if (will.retain) hub.retained.set(will, session.version, { identity, clientId: session.clientId });
}

/** Returns the packets in bytes that a gate has passed on. */
export function packetsIn(bytes: Uint8Array, version: Version): Packet[] {
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = mqtt.decode(bytes.subarray(at), { version, limits: WIDEST });
    if (found.kind === "more") throw new Error("a gate has passed on a part of a packet");
    packets.push(found.packet);
    at += found.used;
  }
  return packets;
}

function publish(hub: Hub, session: Session, packet: Publish): void {
  const { topic, qos, id } = packet;
  if (qos === 2) return hub.end(session, REASON.qosNotSupported, "QoS 2");
  if (topic === undefined) throw new Error("a gate has passed on a message without its topic");
  const message = { ...packet, topic };
  hub.service.counts.add("received");
  route(hub, message, session);
  const isRetained = !packet.retain || hub.retained.set(message, session.version, hub.authorOf(session));
  if (id !== undefined) hub.reply(session, { kind: "puback", id, reason: isRetained ? REASON.success : REASON.quotaExceeded });
}

/** Gives a message to all who have subscribed to it. */
function route(hub: Hub, message: Message, from: Session | undefined): void {
  const outgoing = new Outgoing(message);
  const { alone, shared } = hub.routes.readers(message.topic, from);
  for (const [session, targets] of alone) deliver(hub, session, outgoing, targets);
  for (const target of shared) deliver(hub, target.session, outgoing, [target]);
}

/** Delivers a message once for all subscriptions of a client, as far as it can name them. */
function deliver(hub: Hub, session: Session, outgoing: Outgoing, targets: readonly Target[]): void {
  const retain = outgoing.retain && targets.some(({ retainAsPublished }) => retainAsPublished);
  const identifiers = targets.flatMap(({ identifier }) => (identifier === 0 ? [] : [identifier]));
  for (let at = 0; at === 0 || at < identifiers.length; at += IDENTIFIERS) {
    send(hub, session, outgoing.packet(session.version, retain, identifiers.slice(at, at + IDENTIFIERS)));
  }
}

function send(hub: Hub, session: Session, packet: Uint8Array): void {
  if (session.isOver) return;
  const { counts, settings } = hub.service;
  if (packet.length > session.takes) return counts.add("tooLarge");
  // Without a decision about each message, that about the subscription stands.
  const bytes = settings.gate.deliver === "each" ? hub.gateOf(session)?.fromServer(packet).reply : packet;
  if (bytes === undefined || bytes.length === 0) return;
  hub.outbox.add(session, bytes);
  counts.add("delivered");
}

function subscribe(hub: Hub, session: Session, { id, subscriptions, properties }: Subscribe): void {
  const identifier = properties.subscriptionIdentifiers?.[0] ?? 0;
  const wanting: string[] = [];
  const reasons = subscriptions.map((asked) => {
    const { filter, retainHandling } = asked;
    const isNew = !session.subscriptions.has(filter);
    if (isNew && hub.routes.count >= SUBSCRIPTIONS) return session.version === 5 ? REASON.quotaExceeded : REASON.unspecified;
    const subscription = { filter, options: optionsByte(asked), identifier };
    hub.routes.add(session, subscription);
    hub.store.setSubscription({ session: session.id, ...subscription });
    const wants = retainHandling === 0 || (retainHandling === 1 && isNew);
    if (wants && !isShared(filter)) wanting.push(filter);
    return REASON.success;
  });
  hub.reply(session, { kind: "suback", id, reasons });
  for (const filter of new Set(wanting)) sendRetained(hub, session, filter, identifier);
}

function sendRetained(hub: Hub, session: Session, filter: string, identifier: number): void {
  const identifiers = identifier === 0 ? [] : [identifier];
  for (const message of hub.retained.matching(filter, Date.now())) {
    send(hub, session, new Outgoing(message).packet(session.version, true, identifiers));
  }
}

function unsubscribe(hub: Hub, session: Session, { id, filters }: Unsubscribe): void {
  const reasons = filters.map((filter) => {
    if (!hub.routes.remove(session, filter)) return REASON.noSubscriptionExisted;
    hub.store.removeSubscription(session.id, filter);
    return REASON.success;
  });
  hub.reply(session, { kind: "unsuback", id, reasons: session.version === 5 ? reasons : [] });
}

/** The gates have checked the bounds, and may have written a packet anew. */
const WIDEST = { packetBytes: 268_435_460, connectBytes: 268_435_460, topicBytes: 65_535, topicLevels: 128, filters: 65_535, userProperties: 65_535, userPropertyBytes: 2 ** 32 - 1 };
