// The sessions of the hub. Each is as long as its connection, and sleeps with the hub: what is not
// in memory is in the attachment of its WebSocket, or in the storage.

import type { Connect, Gate, Version } from "wardgate/mqtt";

import type { Identity } from "./identity.ts";

/** A client that was accepted. */
export interface Session {
  readonly id: number;
  /** Absent if the connection was lost while the hub was away. */
  readonly socket: WebSocket | undefined;
  readonly version: Version;
  readonly clientId: string;
  /** The largest packet that the client takes. */
  readonly takes: number;
  /** The client has a will that is to be published if it is lost. */
  hasWill: boolean;
  /** The gate; absent after a sleep, until it is needed. */
  gate: Gate | undefined;
  /** The subscriptions by filter, with `$share/` and its group where it is shared. */
  readonly subscriptions: Map<string, Place>;
  /** The bytes that were sent since the client last sent a packet. */
  unanswered: number;
  isOver: boolean;
}

/** The place of a subscription: its filter in the set, or its group. */
export type Place = { readonly kind: "alone"; readonly id: number } | { readonly kind: "group"; readonly name: string };

/**
 * What the platform keeps with a WebSocket while the hub sleeps: at most 2 KiB. It suffices to
 * answer a PINGREQ.
 */
export interface Attachment {
  /** The number of the session. */
  readonly id: number;
  /** The CONNECT of the client was accepted. */
  readonly isOpen: boolean;
  /** The address of the client. */
  readonly address: string | null;
  /** When the connection began, and then when its last packet came, in milliseconds. */
  readonly heard: number;
  /** The longest silence in milliseconds; 0 for any. */
  readonly silence: number;
  /** When the token of the client ends. */
  readonly ends: number | undefined;
  /** The beginning of a packet is in the storage. */
  readonly hasRest: boolean;
}

/** Makes the session of a client whose CONNECT is to be decided. */
export function newSession(socket: WebSocket, { version, clientId, will, properties }: Connect): Session {
  return {
    id: attachmentOf(socket).id,
    socket,
    version,
    clientId: clientId === "" ? assignedId() : clientId,
    takes: properties.maximumPacketSize ?? Number.MAX_SAFE_INTEGER,
    hasWill: will !== undefined,
    gate: undefined,
    subscriptions: new Map(),
    unanswered: 0,
    isOver: false,
  };
}

/** Attaches to the socket of an accepted client what a sleep must not lose. */
export function openAttachment(socket: WebSocket, keepAliveSeconds: number, { ends }: Identity): void {
  // One and a half times the keep-alive [MQTT-3.1.2-24].
  const silence = 1500 * keepAliveSeconds;
  socket.serializeAttachment({ ...attachmentOf(socket), isOpen: true, heard: Date.now(), silence, ends } satisfies Attachment);
}

export function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}

/** Returns the time at which a client has been silent for too long, or its token ends. */
export function deadlineOf({ heard, silence, ends }: Attachment): number {
  const silent = silence === 0 ? Infinity : heard + silence + precisionOf(silence);
  return Math.min(silent, ends ?? Infinity);
}

/** Notes that a client has sent a packet. Writing an attachment costs more than reading it. */
export function touch(socket: WebSocket, now: number): void {
  const attachment = attachmentOf(socket);
  const { heard, silence } = attachment;
  if (silence > 0 && now - heard >= precisionOf(silence)) socket.serializeAttachment({ ...attachment, heard: now });
}

/** Returns the milliseconds by which `heard` may lag behind. */
function precisionOf(silence: number): number {
  return Math.min(1000, silence / 8);
}

/** Returns a client id that nobody has and nobody can guess. */
function assignedId(): string {
  const digits = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  return `auto-${digits.join("")}`;
}
