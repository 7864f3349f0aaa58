// Counts of an instance since it started, for `/metrics`.

/** The names of the counts. */
export type Count = keyof typeof NONE;

export class Counts {
  readonly #since = Date.now();
  readonly #counts = { ...NONE };

  add(name: Count): void {
    this.#counts[name] += 1;
  }

  read(): { readonly since: string } & Readonly<Record<Count, number>> {
    return { since: new Date(this.#since).toISOString(), ...this.#counts };
  }
}

const NONE = {
  /** Decisions. */
  allowed: 0,
  denied: 0,
  /** Clients whose CONNECT was accepted. */
  accepted: 0,
  /** Connections that were closed for a fault, a denial or a lost right. */
  closed: 0,
  /** Connections that were closed because the other side had stopped to answer. */
  slow: 0,
  /** Hub: messages of clients. */
  received: 0,
  /** Hub: messages that were handed to the connection of a reader. */
  delivered: 0,
  /** Hub: messages that were larger than their reader takes. */
  tooLarge: 0,
  /** Hub: messages that were not retained because there was no room. */
  notRetained: 0,
};
