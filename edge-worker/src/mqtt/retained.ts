// The retained messages of the hub, each with its publisher, in the storage of the object.

import { mqtt, type Packet, type PacketToEncode, type Publish, type Version } from "wardgate/mqtt";

import type { Counts } from "./counts.ts";
import type { Identity } from "./identity.ts";
import { RETAINED_BYTES, RETAINED_MESSAGES } from "./limits.ts";
import type { Message } from "./message.ts";
import { readIdentity } from "./store.ts";

/** A publisher, as far as decisions about its messages need it. */
export interface Author {
  readonly identity: Identity;
  readonly clientId: string;
}

/** A retained message with its publisher, and the packet that a gate would see. */
export interface Kept {
  readonly version: Version;
  readonly packet: Uint8Array;
  readonly author: Author;
}

/** A message to be retained. */
export type Retaining = Message & Pick<Publish, "qos">;

export class Retained {
  readonly #sql: SqlStorage;
  readonly #counts: Counts;
  #messages: number;
  #bytes: number;

  constructor(sql: SqlStorage, counts: Counts) {
    this.#sql = sql;
    this.#counts = counts;
    sql.exec(TABLE);
    const { messages, bytes } = sql.exec<{ messages: number; bytes: number }>("SELECT COUNT(*) AS messages, TOTAL(size) AS bytes FROM retained").one();
    this.#messages = messages;
    this.#bytes = bytes;
  }

  get size(): { readonly messages: number; readonly bytes: number } {
    return { messages: this.#messages, bytes: this.#bytes };
  }

  /**
   * Retains a message in the place of that of its topic; an empty one removes that. Returns false
   * if there is no room: the message before it, which is no longer true, is gone all the same.
   */
  set(message: Retaining, version: Version, author: Author): boolean {
    const { topic, payload } = message;
    this.remove(topic);
    if (payload.length === 0) return true;
    const packet = mqtt.encode(packetOf(message), version);
    const by = JSON.stringify(author);
    const size = packet.length + 2 * by.length + 4 * topic.length + OVERHEAD;
    if (this.#messages >= RETAINED_MESSAGES || this.#bytes + size > RETAINED_BYTES) {
      this.#counts.add("notRetained");
      return false;
    }
    const seconds = message.properties.messageExpiryInterval;
    const expires = seconds === undefined ? null : Date.now() + 1000 * seconds;
    const insert = "INSERT INTO retained (topic, version, packet, author, expires, ends, size) VALUES (?, ?, ?, ?, ?, ?, ?)";
    this.#sql.exec(insert, topic, version, packet.buffer, by, expires, author.identity.ends ?? null, size);
    this.#messages += 1;
    this.#bytes += size;
    return true;
  }

  remove(topic: string): void {
    this.#removed(this.#sql.exec<{ size: number }>("DELETE FROM retained WHERE topic = ? RETURNING size", topic).toArray());
  }

  /** Removes the messages that have expired, and those of publishers whose token has ended. */
  expire(now: number): void {
    this.#removed(this.#sql.exec<{ size: number }>("DELETE FROM retained WHERE expires <= ?1 OR ends <= ?1 RETURNING size", now).toArray());
  }

  /** Returns the messages whose topics a filter matches. */
  *matching(filter: string, now: number): Generator<Message> {
    this.expire(now);
    for (const topic of this.#topics(filter)) {
      const query = "SELECT version, packet, expires FROM retained WHERE topic = ?";
      for (const { version, packet, expires } of this.#sql.exec<KeptRow>(query, topic)) yield messageOf(version, packet, expires, now);
    }
  }

  /** Removes each message about which a judge returns false. */
  reconsider(mayStay: (kept: Kept) => boolean): void {
    const query = "SELECT topic, version, packet, author FROM retained ORDER BY author";
    const lost: string[] = [];
    for (const { topic, version, packet, author } of this.#sql.exec<KeptRow>(query)) {
      if (!mayStay({ version: version as Version, packet: new Uint8Array(packet), author: readAuthor(author) })) lost.push(topic);
    }
    for (const topic of lost) this.remove(topic);
  }

  #topics(filter: string): string[] {
    const at = filter.search(/[+#]/);
    if (at < 0) return [filter];
    // All topics of the filter begin with what is before its first wildcard; `a/#` has `a` too.
    const prefix = filter.slice(0, at).replace(/\/$/, "");
    const topics: string[] = [];
    for (const { topic } of this.#sql.exec<{ topic: string }>("SELECT topic FROM retained WHERE topic >= ? ORDER BY topic", prefix)) {
      if (!topic.startsWith(prefix)) break;
      if (mqtt.matches(filter, topic)) topics.push(topic);
    }
    return topics;
  }

  #removed(rows: readonly { readonly size: number }[]): void {
    this.#messages -= rows.length;
    for (const { size } of rows) this.#bytes -= size;
  }
}

/** Returns the PUBLISH of a message, as its publisher sent it. */
function packetOf({ topic, payload, qos, properties }: Retaining): PacketToEncode {
  const { topicAlias: _, ...others } = properties;
  return { kind: "publish", topic, payload, qos, id: qos === 0 ? undefined : 1, retain: true, properties: others };
}

function messageOf(version: number, packet: ArrayBuffer, expires: number | null, now: number): Message {
  const found = mqtt.decode(packet, { version: version as Version, limits: WIDEST });
  const { topic = "", payload, properties } = publishIn(found.kind === "whole" ? found.packet : undefined);
  const left = expires === null ? {} : { messageExpiryInterval: Math.ceil((expires - now) / 1000) };
  return { topic, payload, retain: true, properties: { ...properties, ...left } };
}

function publishIn(packet: Packet | undefined): Publish {
  if (packet?.kind !== "publish") throw new Error("a retained message is damaged");
  return packet;
}

function readAuthor(text: string): Author {
  const { identity, clientId } = JSON.parse(text) as { identity: unknown; clientId: string };
  return { identity: readIdentity(JSON.stringify(identity)), clientId };
}

interface KeptRow extends Record<string, SqlStorageValue> {
  readonly topic: string;
  readonly version: number;
  readonly packet: ArrayBuffer;
  readonly author: string;
  readonly expires: number | null;
}

const TABLE = `CREATE TABLE IF NOT EXISTS retained (
  topic TEXT PRIMARY KEY, version INTEGER NOT NULL, packet BLOB NOT NULL, author TEXT NOT NULL,
  expires INTEGER, ends INTEGER, size INTEGER NOT NULL) WITHOUT ROWID`;
/** An estimate of the bytes of a row beside its texts. */
const OVERHEAD = 128;
/** The bounds held when the message was taken. */
const WIDEST = { packetBytes: 268_435_460, topicBytes: 65_535, topicLevels: 128, userProperties: 65_535, userPropertyBytes: 2 ** 32 - 1 };
