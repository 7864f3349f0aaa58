// A message on its way to its readers, encoded once for all who get the same packet.

import { mqtt, type Properties, type Publish, type Version } from "wardgate/mqtt";

/** What is delivered of a PUBLISH or of a will. */
export type Message = Pick<Publish, "payload" | "retain" | "properties"> & { readonly topic: string };

export class Outgoing {
  readonly #message: Message;
  readonly #properties: Properties;
  readonly #packets = new Map<string, Uint8Array>();

  constructor(message: Message) {
    this.#message = message;
    // The rest belongs to the connection of the publisher.
    const { topicAlias: _, subscriptionIdentifiers: __, willDelayInterval: ___, ...properties } = message.properties;
    this.#properties = properties;
  }

  /** The message has the retain flag. */
  get retain(): boolean {
    return this.#message.retain;
  }

  /** Returns the packet for readers of a version. */
  packet(version: Version, retain: boolean, identifiers: readonly number[]): Uint8Array {
    if (identifiers.length > 0 && version === 5) return this.#encode(version, retain, identifiers);
    const name = `${version} ${retain}`;
    const known = this.#packets.get(name);
    if (known !== undefined) return known;
    const packet = this.#encode(version, retain, []);
    this.#packets.set(name, packet);
    return packet;
  }

  #encode(version: Version, retain: boolean, identifiers: readonly number[]): Uint8Array {
    const { topic, payload } = this.#message;
    const properties = identifiers.length > 0 ? { ...this.#properties, subscriptionIdentifiers: identifiers } : this.#properties;
    return mqtt.encode({ kind: "publish", topic, payload, retain, properties }, version);
  }
}
