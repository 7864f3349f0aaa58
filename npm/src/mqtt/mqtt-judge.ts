// The judge of a gate: a PDP decides about `mqtt:client` and `mqtt:topic`.
//
// A question is a packet: see `crates/mqtt-wasm/src/gates.rs`. Whatever fails, denies.

import type { DecidingPath } from "../pdp/prepared.ts";
import type { AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp, PreparedPrincipal } from "../pdp/types.ts";
import { TopicAnswers } from "./mqtt-answers.ts";
import { read, topicOf } from "./mqtt-decode.ts";
import type { Connect, Properties, Publish, Subscription, Version } from "./mqtt-packets.ts";
import { NO_PROPERTIES } from "./mqtt-properties.ts";

/** Who the client is, and what decides. */
export interface JudgeSettings {
  readonly pdp: Pick<Pdp, "for">;
  readonly principal: Principal | ((connect: Connect) => Principal | undefined);
  readonly auxData: AuxData | ((connect: Connect) => AuxData | undefined) | undefined;
}

export class GateJudge {
  /** The errors of the last decisions, which denied. */
  errors: unknown[] = [];
  readonly #settings: JudgeSettings;
  #client: Client | undefined;

  constructor(settings: JudgeSettings) {
    this.#settings = settings;
  }

  /** Answers a question of the module. */
  readonly answer = (action: number, level: number, question: Uint8Array, size: number): number => {
    try {
      return this.#decide(action, level as Version, question, size);
    } catch (error) {
      this.errors.push(error);
      return DENIED;
    }
  };

  #decide(action: number, version: Version, question: Uint8Array, size: number): number {
    switch (action) {
      case CONNECT:
        // Code of the caller gets the packet, so it must not be in the memory of the module.
        return this.#connect(question.slice(), version);
      case STAY:
        return this.#client === undefined ? DENIED : answerOf(this.#client.may("connect", this.#client.resource));
      case ASSIGNED:
        this.#client = this.#client?.renamed(new TextDecoder().decode(question));
        return ALLOWED;
    }
    if (this.#client === undefined) return DENIED;
    const asked = (): [string, Resource] => about(action, read(question, question, question.length, version), version, size);
    const message = MESSAGE_ACTIONS[action - WILL];
    return answerOf(message === undefined ? this.#client.may(...asked()) : this.#client.mayPass(message, topicOf(question), asked));
  }

  #connect(question: Uint8Array, version: Version): number {
    const connect = read(question, question, question.length, version) as Connect;
    const { pdp, principal, auxData } = this.#settings;
    const known = typeof principal === "function" ? principal(connect) : principal;
    if (known === undefined) return BAD_USER_NAME_OR_PASSWORD;
    const data = typeof auxData === "function" ? auxData(connect) : auxData;
    const client = new Client(pdp, known, data, connect);
    if (!client.may("connect", client.resource)) return NOT_AUTHORIZED;
    this.#client = client;
    return ALLOWED;
  }
}

/** A principal that is prepared, by this package or by what stands in for it. */
interface Prepared extends PreparedPrincipal {
  pathFor?(kind: string, action: string): DecidingPath | null;
}

/** A client that has connected. */
class Client {
  /** The connection as a resource. */
  readonly resource: Resource;
  readonly #rename: (clientId: string) => Client;
  readonly #prepared: Prepared;
  /** The answers about messages, by action. */
  readonly #answers = new Map<string, TopicAnswers>();

  constructor(pdp: Pick<Pdp, "for">, principal: Principal, auxData: AuxData | undefined, connect: Connect, clientId = connect.clientId) {
    const { version, cleanStart, keepAlive, will } = connect;
    const attr = { version: nameOf(version), cleanStart, keepAlive, will: will !== undefined };
    this.resource = { kind: "mqtt:client", id: connect.clientId, attr };
    // A client id is a claim: conditions may read it, and it is not the id of the principal.
    this.#prepared = pdp.for({ ...principal, attr: { ...principal.attr, clientId } }, auxData);
    this.#rename = (assigned) => new Client(pdp, principal, auxData, connect, assigned);
  }

  may(action: string, resource: Resource): boolean {
    return this.#prepared.isAllowed(action, resource) === true;
  }

  /** Decides about a message, which is read only if its topic does not decide alone. */
  mayPass(action: string, topic: string, asked: () => [string, Resource]): boolean {
    let answers = this.#answers.get(action);
    if (answers === undefined) this.#answers.set(action, (answers = new TopicAnswers()));
    const path = this.#pathFor(action);
    const known = answers.find(path, topic);
    if (known !== undefined) return known;
    const isAllowed = this.may(...asked());
    // A decision may run code of the caller, which may reload the policies.
    if (path === this.#pathFor(action)) answers.keep(topic, isAllowed);
    return isAllowed;
  }

  #pathFor(action: string): DecidingPath | null {
    return this.#prepared.pathFor?.(TOPIC, action) ?? null;
  }

  /** Returns the client with the id that the broker assigned. */
  renamed(clientId: string): Client {
    return this.#rename(clientId);
  }
}

/** Returns the name of an action and the resource that a question is about. */
function about(action: number, packet: ReturnType<typeof read>, version: Version, size: number): [string, Resource] {
  switch (packet.kind) {
    case "publish":
      return [MESSAGE_ACTIONS[action - WILL]!, message(packet, version, size)];
    case "subscribe":
      return ["subscribe", subscription(packet.subscriptions[0]!, version)];
    case "unsubscribe": {
      const { text, share } = filterOf(packet.filters[0]!);
      return ["unsubscribe", { kind: TOPIC, id: text, attr: { topic: { filter: text }, share, version: nameOf(version) } }];
    }
    default:
      throw new TypeError(`a gate asked about a packet of kind ${packet.kind}`);
  }
}

function message(packet: Publish, version: Version, size: number): Resource {
  const { topic = "", qos, retain, dup, properties } = packet;
  return { kind: TOPIC, id: topic, attr: { topic, qos, retain, dup, size, version: nameOf(version), properties: attributesOf(properties) } };
}

function subscription(asked: Subscription, version: Version): Resource {
  const { filter, qos, noLocal, retainAsPublished, retainHandling } = asked;
  const { text, share } = filterOf(filter);
  // A map, so that no function on text reads a wildcard as text.
  const topic = { filter: text };
  return { kind: TOPIC, id: text, attr: { topic, share, qos, noLocal, retainAsPublished, retainHandling, version: nameOf(version) } };
}

/** Takes a shared subscription apart. */
function filterOf(filter: string): { readonly text: string; readonly share: string } {
  if (!filter.startsWith(SHARE)) return { text: filter, share: "" };
  const end = filter.indexOf("/", SHARE.length);
  return { text: filter.slice(end + 1), share: filter.slice(SHARE.length, end) };
}

/** Returns the properties of a message that conditions may read. */
function attributesOf(properties: Properties): { readonly [name: string]: unknown } {
  if (properties === NO_PROPERTIES) return NO_ATTRIBUTES;
  const { contentType, responseTopic, messageExpiryInterval, payloadFormatIndicator, willDelayInterval, userProperties } = properties;
  const user = new Map<string, string[]>();
  for (const [name, value] of userProperties ?? []) {
    const before = user.get(name);
    if (before === undefined) user.set(name, [value]);
    else before.push(value);
  }
  const all = Object.entries({ contentType, responseTopic, messageExpiryInterval, payloadFormatIndicator, willDelayInterval });
  return { ...Object.fromEntries(all.filter(([, value]) => value !== undefined)), user: Object.fromEntries(user) };
}

function nameOf(version: Version): string {
  return version === 5 ? "5.0" : "3.1.1";
}

function answerOf(isAllowed: boolean): number {
  return isAllowed ? ALLOWED : DENIED;
}

const NO_ATTRIBUTES = Object.freeze({ user: Object.freeze({}) });
const TOPIC = "mqtt:topic";
const SHARE = "$share/";
const ALLOWED = 1;
const DENIED = 0;
const BAD_USER_NAME_OR_PASSWORD = 0x86;
const NOT_AUTHORIZED = 0x87;

/** The actions of the module. */
const CONNECT = 0;
const STAY = 1;
const ASSIGNED = 2;
const WILL = 3;
const MESSAGE_ACTIONS = ["will", "publish", "receive"];
