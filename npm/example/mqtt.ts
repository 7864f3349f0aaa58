// Messages of MQTT: their topics, their handlers, and a gate between a client and a broker.

import type { Pdp, Principal } from "wardgate";
import { mqtt, type Filters, type Gate, type Steps } from "wardgate/mqtt";

type Handler = (topic: string, payload: Uint8Array) => void;

export function handlersOf(subscriptions: ReadonlyMap<string, Handler>): Filters<Handler> {
  const handlers = mqtt.filters<Handler>();
  for (const [filter, handler] of subscriptions) handlers.add(filter, handler);
  return handlers;
}

export function receive(bytes: Uint8Array, handlers: Filters<Handler>): number {
  const found = mqtt.decode(bytes, { version: 5 });
  if (found.kind === "more") return 0;
  const { packet, used } = found;
  if (packet.kind === "publish" && packet.topic !== undefined) {
    for (const handler of handlers.match(packet.topic)) handler(packet.topic, packet.payload);
  }
  return used;
}

/** A connection, such as a socket of `node:net`. */
export interface Connection {
  on(event: "data", listener: (bytes: Uint8Array) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  write(bytes: Uint8Array): unknown;
  end(): unknown;
}

export function relay(pdp: Pdp, principal: Principal, client: Connection, broker: Connection): Gate {
  const gate = mqtt.gate(pdp, { principal, maxPacketBytes: 65_536 });
  const carryOut = ({ forward, reply, close }: Steps): void => {
    if (forward.length > 0) broker.write(forward);
    if (reply.length > 0) client.write(reply);
    if (close === undefined) return;
    clearInterval(timer);
    broker.end();
    client.end();
  };
  const timer = setInterval(() => carryOut(gate.tick()), 1000);
  client.on("data", (bytes) => carryOut(gate.fromClient(bytes)));
  broker.on("data", (bytes) => carryOut(gate.fromServer(bytes)));
  client.on("close", () => carryOut(gate.clientLost()));
  broker.on("close", () => carryOut(gate.serverLost()));
  return gate;
}
