// The packets of MQTT 3.1.1 and 5.0 as values. Names are those of the standards.

/** The level of the protocol: 4 for MQTT 3.1.1, 5 for MQTT 5.0. */
export type Version = 4 | 5;

/** A quality of service. */
export type Qos = 0 | 1 | 2;

/** A packet that was decoded. */
export type Packet =
  | Connect
  | Connack
  | Publish
  | Ack
  | Subscribe
  | Suback
  | Unsubscribe
  | Ping
  | End;

/**
 * A packet to be encoded: like a decoded one, and members with a usual value may be left out.
 * Bytes may be given as text, which becomes UTF-8.
 */
export type PacketToEncode =
  | (Given<Omit<Connect, "password" | "will">, "version" | "clientId"> & {
      readonly password?: Bytes | undefined;
      readonly will?: WillToEncode | undefined;
    })
  | Given<Connack, never>
  | (Given<Omit<Publish, "payload">, never> & { readonly payload?: Bytes | undefined })
  | Given<Ack, "id">
  | (Given<Omit<Subscribe, "subscriptions">, "id"> & { readonly subscriptions: readonly SubscriptionToEncode[] })
  | Given<Suback, "id">
  | Given<Unsubscribe, "id" | "filters">
  | Ping
  | Given<End, never>;

/** A will to be encoded. */
export type WillToEncode = Given<Omit<Will, "payload">, "topic"> & { readonly payload?: Bytes | undefined };

/** A subscription to be encoded. */
export type SubscriptionToEncode = Given<Subscription, "filter">;

/** Bytes, or text that becomes UTF-8. */
export type Bytes = Uint8Array | ArrayBuffer | string;

/** CONNECT: section 3.1. */
export interface Connect {
  readonly kind: "connect";
  /** The version that the client speaks. */
  readonly version: Version;
  /** Clean Start, in 3.1.1 Clean Session; true unless given. */
  readonly cleanStart: boolean;
  /** The keep-alive in seconds; 0 for none. */
  readonly keepAlive: number;
  /** The client id, which may be empty. */
  readonly clientId: string;
  readonly userName: string | undefined;
  readonly password: Uint8Array | undefined;
  readonly will: Will | undefined;
  readonly properties: Properties;
}

/** The message that a server publishes when a client is lost. */
export interface Will {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly properties: Properties;
}

/** CONNACK: section 3.2. */
export interface Connack {
  readonly kind: "connack";
  /** The server has a session of the client. */
  readonly sessionPresent: boolean;
  /** The reason code, in 3.1.1 the return code. */
  readonly reason: number;
  readonly properties: Properties;
}

/** PUBLISH: section 3.3. */
export interface Publish {
  readonly kind: "publish";
  /** The topic; in 5.0, absent where the topic alias among the properties stands for it. */
  readonly topic: string | undefined;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  /** The message is to be retained, or was. */
  readonly retain: boolean;
  /** The packet was sent before. */
  readonly dup: boolean;
  /** The packet identifier; absent with QoS 0. */
  readonly id: number | undefined;
  readonly properties: Properties;
}

/** PUBACK, PUBREC, PUBREL or PUBCOMP: sections 3.4 to 3.7. */
export interface Ack {
  readonly kind: "puback" | "pubrec" | "pubrel" | "pubcomp";
  /** The packet identifier. */
  readonly id: number;
  /** The reason code; 0 in 3.1.1. */
  readonly reason: number;
  readonly properties: Properties;
}

/** SUBSCRIBE: section 3.8. */
export interface Subscribe {
  readonly kind: "subscribe";
  /** The packet identifier. */
  readonly id: number;
  /** The subscriptions, of which there is at least one. */
  readonly subscriptions: readonly Subscription[];
  readonly properties: Properties;
}

/** A filter of a SUBSCRIBE with its options. */
export interface Subscription {
  /** The filter, with `$share/` and its group where it is shared. */
  readonly filter: string;
  /** The highest quality of service of deliveries. */
  readonly qos: Qos;
  /** Messages of the same client are not delivered; false in 3.1.1. */
  readonly noLocal: boolean;
  /** Deliveries have the retain flag of the publisher; false in 3.1.1. */
  readonly retainAsPublished: boolean;
  /** Retained messages are sent: 0 at each SUBSCRIBE, 1 if the subscription is new, 2 never. */
  readonly retainHandling: 0 | 1 | 2;
}

/** SUBACK or UNSUBACK: sections 3.9 and 3.11. */
export interface Suback {
  readonly kind: "suback" | "unsuback";
  /** The packet identifier. */
  readonly id: number;
  /** A reason code for each filter; an UNSUBACK of 3.1.1 has none. */
  readonly reasons: readonly number[];
  readonly properties: Properties;
}

/** UNSUBSCRIBE: section 3.10. */
export interface Unsubscribe {
  readonly kind: "unsubscribe";
  /** The packet identifier. */
  readonly id: number;
  /** The filters, of which there is at least one. */
  readonly filters: readonly string[];
  readonly properties: Properties;
}

/** PINGREQ or PINGRESP: sections 3.12 and 3.13. */
export interface Ping {
  readonly kind: "pingreq" | "pingresp";
}

/** DISCONNECT or AUTH: sections 3.14 and 3.15. */
export interface End {
  readonly kind: "disconnect" | "auth";
  /** The reason code; 0 in 3.1.1. */
  readonly reason: number;
  readonly properties: Properties;
}

/** The properties of a packet of 5.0; in 3.1.1 there are none. Numbers of time are seconds. */
export interface Properties {
  readonly payloadFormatIndicator?: boolean | undefined;
  readonly messageExpiryInterval?: number | undefined;
  readonly contentType?: string | undefined;
  readonly responseTopic?: string | undefined;
  readonly correlationData?: Uint8Array | undefined;
  /** In order; a SUBSCRIBE has at most one. */
  readonly subscriptionIdentifiers?: readonly number[] | undefined;
  readonly sessionExpiryInterval?: number | undefined;
  readonly assignedClientIdentifier?: string | undefined;
  readonly serverKeepAlive?: number | undefined;
  readonly authenticationMethod?: string | undefined;
  readonly authenticationData?: Uint8Array | undefined;
  readonly requestProblemInformation?: boolean | undefined;
  readonly willDelayInterval?: number | undefined;
  readonly requestResponseInformation?: boolean | undefined;
  readonly responseInformation?: string | undefined;
  readonly serverReference?: string | undefined;
  readonly reasonString?: string | undefined;
  readonly receiveMaximum?: number | undefined;
  readonly topicAliasMaximum?: number | undefined;
  readonly topicAlias?: number | undefined;
  readonly maximumQos?: 0 | 1 | undefined;
  readonly retainAvailable?: boolean | undefined;
  /** Names and values, in order; a name may occur again. */
  readonly userProperties?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly maximumPacketSize?: number | undefined;
  readonly wildcardSubscriptionAvailable?: boolean | undefined;
  readonly subscriptionIdentifierAvailable?: boolean | undefined;
  readonly sharedSubscriptionAvailable?: boolean | undefined;
}

/** The members `kind` and `Needed` of a packet, and the others where they differ from the usual. */
type Given<P extends object, Needed extends keyof P> = Pick<P, Extract<keyof P, "kind"> | Needed> & {
  readonly [Name in Exclude<keyof P, "kind" | Needed>]?: P[Name] | undefined;
};
