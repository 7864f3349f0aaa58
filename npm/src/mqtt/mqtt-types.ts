// The public types beside those of packets. They are in a file of their own: public types must not
// need the namespace `WebAssembly`, which programs without the declarations of a browser lack.

import type { AuxData, Principal } from "../pdp/request-types.ts";
import type { Connect, Packet } from "./mqtt-packets.ts";

/** What is at the front of some bytes. */
export type Decoded = Whole | More;

/** A packet. */
export interface Whole {
  readonly kind: "whole";
  readonly packet: Packet;
  /** The number of bytes of the packet; others may follow. */
  readonly used: number;
}

/** The beginning of a packet. */
export interface More {
  readonly kind: "more";
  /** The number of bytes that the packet has at least. */
  readonly least: number;
}

/** The bounds of packets that `decode` accepts. What is left out has its default. */
export interface Limits {
  /** The bytes of a packet; 262,144 unless given, at most 268,435,460. */
  readonly packetBytes?: number | undefined;
  /** The bytes of a CONNECT; 16,384 unless given. */
  readonly connectBytes?: number | undefined;
  /** The bytes of a topic name or filter, with `$share`; 1,024 unless given, at most 65,535. */
  readonly topicBytes?: number | undefined;
  /** The levels of a topic name or filter; 32 unless given, at most 128. */
  readonly topicLevels?: number | undefined;
  /** The filters of a SUBSCRIBE or UNSUBSCRIBE; 64 unless given. */
  readonly filters?: number | undefined;
  /** The user properties of a packet; 32 unless given. */
  readonly userProperties?: number | undefined;
  /** The bytes of the names and values of the user properties of a packet; 8,192 unless given. */
  readonly userPropertyBytes?: number | undefined;
}

/** The bounds of the packets of a client, and of what a gate holds for it. */
export interface GateLimits extends Omit<Limits, "packetBytes"> {
  /** The topic aliases of each direction; 16 unless given. */
  readonly aliases?: number | undefined;
  /** The unacknowledged messages of a client of 5.0; 64 unless given. */
  readonly receiveMaximum?: number | undefined;
  /** The subscriptions of a client, and the filters that wait for an answer; 1,000 unless given. */
  readonly subscriptions?: number | undefined;
  /** The bytes of the filters of all subscriptions of a client; 262,144 unless given. */
  readonly subscriptionBytes?: number | undefined;
}

/** A set of filters with values, which finds all that match a topic name. */
export interface Filters<T> {
  /** The number of filters. */
  readonly size: number;
  /**
   * Adds a filter with a value, and returns a number for `remove` that never stands for another
   * filter of the set. The same filter may be added again. Of a shared subscription
   * `$share/group/filter`, the filter after the group counts.
   *
   * @throws WardgateError with the code `invalid-filter`, or `protocol-error` if the set is full.
   */
  add(filter: string, value: T): number;
  /** Removes a filter. Returns false if it was removed before. */
  remove(id: number): boolean;
  /**
   * Returns the value of each filter that matches a topic name, in no particular order.
   *
   * @throws WardgateError with the code `invalid-topic`.
   */
  match(name: string): T[];
  /** Removes all filters and frees their memory. The set must not be used again. */
  dispose(): void;
  [Symbol.dispose](): void;
}

/** The options of a gate. */
export interface GateOptions {
  /**
   * The principal of the client, which the caller has authenticated; or a function that finds it by
   * CONNECT, and returns `undefined` to refuse the client (0x86). The gate adds the client id to its
   * attributes, as `clientId`.
   */
  readonly principal: Principal | ((connect: Connect) => Principal | undefined);
  /** Verified data about the client, such as the claims of its token. */
  readonly auxData?: AuxData | ((connect: Connect) => AuxData | undefined) | undefined;
  /** The bytes of a packet; 262,144 unless given. */
  readonly maxPacketBytes?: number | undefined;
  /** The other bounds. */
  readonly limits?: GateLimits | undefined;
  /** A denied PUBLISH of QoS 1 or 2 in 3.1.1 closes the connection (default), or is acknowledged and dropped. */
  readonly denied?: "close" | "drop" | undefined;
  /** Each delivery is decided (`receive`), or only those of sessions that the broker resumed (default). */
  readonly deliver?: "subscribed" | "each" | undefined;
  /** The broker gets the password of CONNECT; false unless given. */
  readonly passPassword?: boolean | undefined;
  /** The seconds until CONNECT must be there; 5 unless given. */
  readonly connectSeconds?: number | undefined;
  /** The seconds until the broker must have answered CONNECT; 10 unless given. */
  readonly connackSeconds?: number | undefined;
  /** A clock in milliseconds that does not go back; `performance.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** What is to be done: write the bytes, and then close both connections if `close` is there. */
export interface Steps {
  /** Bytes for the broker. */
  readonly forward: Uint8Array;
  /** Bytes for the client. */
  readonly reply: Uint8Array;
  readonly close: Close | undefined;
  /** Errors of decisions, such as those of a disposed PDP; what they were about was denied. */
  readonly errors: readonly unknown[];
}

/** The end of a connection. */
export interface Close {
  /** The side whose bytes or silence are the cause; `gate` for policies, time and the host. */
  readonly side: "client" | "broker" | "gate";
  /** The reason code of 5.0. */
  readonly reason: number;
  /** A side ended the connection as the standards foresee. */
  readonly isRegular: boolean;
  /** The offset of the byte that is wrong, or of its packet, among all bytes of the side. */
  readonly offset: number;
  /** The cause, for a log. */
  readonly message: string;
}

/**
 * The gate of one client. All methods return what is to be done; the bytes given are not changed,
 * and those returned may be the same. The methods throw a `WardgateError` with the code `disposed`
 * after `dispose`, and `internal` if the module failed: then both connections must be closed.
 */
export interface Gate {
  /** Takes bytes of the client. */
  fromClient(bytes: Uint8Array | ArrayBuffer): Steps;
  /** Takes bytes of the broker. */
  fromServer(bytes: Uint8Array | ArrayBuffer): Steps;
  /** Lets time pass. Call it once a second. */
  tick(): Steps;
  /**
   * Decides anew about the connection, its will and its subscriptions, after policies have changed.
   * Closes the connection if a right is gone.
   */
  reconsider(): Steps;
  /** Takes notice that the connection to the broker could not be made, or has ended. */
  serverLost(): Steps;
  /** Takes notice that the connection of the client has ended. */
  clientLost(): Steps;
  /** Closes the connection for a reason code of 5.0, such as 0x87 when a token has expired. */
  close(reason: number): Steps;
  /** Frees the memory of the gate, which must not be used again. */
  dispose(): void;
  [Symbol.dispose](): void;
}
