// The storage of the hub: what its sessions need after a sleep, in the SQLite of the object.
//
// Writes are synchronous; the platform holds back what is sent after them until they are durable.

import type { Version } from "wardgate/mqtt";

import type { Identity } from "./identity.ts";

/** A session as it is stored. */
export interface StoredSession {
  readonly id: number;
  readonly client: string;
  readonly version: Version;
  /** The largest packet that the client takes. */
  readonly takes: number;
  readonly hasWill: boolean;
}

/** A subscription as it is stored: the options are those of SUBSCRIBE (5.0, section 3.8.3.1). */
export interface StoredSubscription {
  readonly session: number;
  readonly filter: string;
  readonly options: number;
  /** The subscription identifier; 0 for none. */
  readonly identifier: number;
}

/** What opened a session: its CONNECT without password, and the identity that it proved. */
export interface Opening {
  readonly connect: Uint8Array;
  readonly identity: Identity;
}

export class Store {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    for (const table of TABLES) sql.exec(table);
  }

  sessions(): StoredSession[] {
    const rows = this.#sql.exec<SessionRow>("SELECT id, client, version, takes, will FROM session").toArray();
    return rows.map(({ id, client, version, takes, will }) => ({ id, client, version: version as Version, takes, hasWill: will === 1 }));
  }

  subscriptions(): Iterable<StoredSubscription> {
    return this.#sql.exec<StoredSubscription & Record<string, SqlStorageValue>>("SELECT session, filter, options, identifier FROM subscription");
  }

  subscriptionsOf(session: number): StoredSubscription[] {
    const query = "SELECT session, filter, options, identifier FROM subscription WHERE session = ?";
    return this.#sql.exec<StoredSubscription & Record<string, SqlStorageValue>>(query, session).toArray();
  }

  addSession({ id, client, version, takes, hasWill }: StoredSession, { connect, identity }: Opening): void {
    const insert = "INSERT INTO session (id, client, version, takes, will, identity, connect) VALUES (?, ?, ?, ?, ?, ?, ?)";
    this.#sql.exec(insert, id, client, version, takes, hasWill ? 1 : 0, JSON.stringify(identity), connect.slice().buffer);
  }

  opening(session: number): Opening | undefined {
    const rows = this.#sql.exec<{ connect: ArrayBuffer; identity: string }>("SELECT connect, identity FROM session WHERE id = ?", session);
    const row = rows.toArray()[0];
    return row && { connect: new Uint8Array(row.connect), identity: readIdentity(row.identity) };
  }

  /** Removes a session with all that is its own. */
  removeSession(session: number): void {
    this.#sql.exec("DELETE FROM session WHERE id = ?", session);
    this.#sql.exec("DELETE FROM subscription WHERE session = ?", session);
    this.#sql.exec("DELETE FROM rest WHERE session = ?", session);
  }

  setSubscription({ session, filter, options, identifier }: StoredSubscription): void {
    const insert = "INSERT OR REPLACE INTO subscription (session, filter, options, identifier) VALUES (?, ?, ?, ?)";
    this.#sql.exec(insert, session, filter, options, identifier);
  }

  removeSubscription(session: number, filter: string): void {
    this.#sql.exec("DELETE FROM subscription WHERE session = ? AND filter = ?", session, filter);
  }

  setRest(session: number, bytes: Uint8Array): void {
    this.#sql.exec("INSERT OR REPLACE INTO rest (session, bytes) VALUES (?, ?)", session, bytes.slice().buffer);
  }

  rest(session: number): Uint8Array {
    const row = this.#sql.exec<{ bytes: ArrayBuffer }>("SELECT bytes FROM rest WHERE session = ?", session).toArray()[0];
    return new Uint8Array(row?.bytes ?? new ArrayBuffer(0));
  }

  removeRest(session: number): void {
    this.#sql.exec("DELETE FROM rest WHERE session = ?", session);
  }

  /** The basis of the last decisions about sessions and retained messages: see `basisOf`. */
  get basis(): string | undefined {
    return this.#sql.exec<{ value: string }>("SELECT value FROM note WHERE name = 'basis'").toArray()[0]?.value;
  }

  set basis(value: string) {
    this.#sql.exec("INSERT OR REPLACE INTO note (name, value) VALUES ('basis', ?)", value);
  }
}

/** Reads an identity that this program wrote. */
export function readIdentity(text: string): Identity {
  const { principal, auxData, ends } = JSON.parse(text) as Identity;
  return { principal, auxData, ends };
}

interface SessionRow extends Record<string, SqlStorageValue> {
  readonly id: number;
  readonly client: string;
  readonly version: number;
  readonly takes: number;
  readonly will: number;
}

const TABLES = [
  `CREATE TABLE IF NOT EXISTS session (
    id INTEGER PRIMARY KEY, client TEXT NOT NULL, version INTEGER NOT NULL, takes INTEGER NOT NULL,
    will INTEGER NOT NULL, identity TEXT NOT NULL, connect BLOB NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS subscription (
    session INTEGER NOT NULL, filter TEXT NOT NULL, options INTEGER NOT NULL, identifier INTEGER NOT NULL,
    PRIMARY KEY (session, filter)) WITHOUT ROWID`,
  "CREATE TABLE IF NOT EXISTS rest (session INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
  "CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
];
