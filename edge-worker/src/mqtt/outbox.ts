// What goes out to clients: joined for each event, and bounded for those that have stopped to read.

import { joined } from "./inbox.ts";
import type { Session } from "./session.ts";
import { UNANSWERED_BYTES, UNANSWERED_BYTES_OF_ALL } from "./limits.ts";

export class Outbox {
  readonly #waiting = new Map<Session, Uint8Array[]>();
  #bytes = 0;
  /** The clients that were sent something since they last sent a packet, and all of its bytes. */
  readonly #busy = new Set<Session>();
  #unanswered = 0;

  /** Adds bytes for a client. */
  add(session: Session, bytes: Uint8Array): void {
    if (bytes.length === 0 || session.isOver) return;
    const before = this.#waiting.get(session);
    if (before === undefined) this.#waiting.set(session, [bytes]);
    else before.push(bytes);
    this.#busy.add(session);
    session.unanswered += bytes.length;
    this.#unanswered += bytes.length;
    this.#bytes += bytes.length;
    if (this.#bytes >= MOST_WAITING) this.flush();
  }

  /** Notes that a client has sent a packet, or is gone. */
  answered(session: Session): void {
    this.#busy.delete(session);
    this.#unanswered -= session.unanswered;
    session.unanswered = 0;
  }

  /**
   * Returns the clients that were sent more than may wait for one without an answer, and those with
   * the most of it while it is more than may wait for all.
   */
  *slow(): Generator<Session> {
    for (const session of this.#busy) if (session.unanswered > UNANSWERED_BYTES) yield session;
    while (this.#unanswered > UNANSWERED_BYTES_OF_ALL) {
      yield [...this.#busy].reduce((most, one) => (one.unanswered > most.unanswered ? one : most));
    }
  }

  flush(): void {
    for (const session of this.#waiting.keys()) this.flushOne(session);
    this.#bytes = 0;
  }

  flushOne(session: Session): void {
    const packets = this.#waiting.get(session);
    if (packets === undefined) return;
    this.#waiting.delete(session);
    try {
      session.socket?.send(joined(...packets));
    } catch {
      // The connection has ended, and its event is on the way.
    }
  }
}

/** The bytes that wait for the end of an event. */
const MOST_WAITING = 2 ** 20;
