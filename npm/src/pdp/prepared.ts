// What `for` and `prepare` return: questions of which a part was asked before.

import { filterRows, type Backing } from "../fast/batch.ts";
import { ALLOW, UNSURE } from "../wasm/frame.ts";
import { describe } from "../base/describe.ts";
import { isObject } from "../base/plain.ts";
import { snapshot } from "../base/snapshot.ts";
import type { AuxData, PreparedAction, PreparedPrincipal, PreparedQuestion, Principal, Resource } from "./types.ts";
import type { Topic as Asked } from "./types.ts";
import { decideAction, decideFor, decideTopic, Topic, Who } from "../fast/who.ts";

/** A principal that asks again and again. */
export class PrincipalAsking implements PreparedPrincipal {
  readonly #backing: Backing;
  readonly #who: Who;
  readonly #auxData: unknown;

  constructor(backing: Backing, principal: Principal, auxData: AuxData | undefined) {
    this.#backing = backing;
    this.#who = new Who(snapshot(principal));
    this.#auxData = snapshot(auxData);
  }

  isAllowed(action: string, resource: Resource): boolean {
    const backing = this.#backing;
    let answer: number;
    try {
      answer = decideFor(backing.plans, this.#who, action, resource);
      if (answer === UNSURE && backing.plans.refresh()) {
        answer = decideFor(backing.plans, this.#who, action, resource);
      }
    } catch (thrown) {
      throw backing.failure(thrown);
    }
    if (answer !== UNSURE) return answer === ALLOW;
    return backing.general({ principal: this.#who.principal, action, resource, auxData: this.#auxData });
  }

  filter<R extends Resource>(action: string, resources: readonly R[]): R[] {
    return filterRows(this.#backing, this.#who, action, resources, this.#auxData);
  }

  prepare(topic: Asked): PreparedQuestion {
    return new QuestionAsking(this.#backing, this.#who, readTopic(topic), this.#auxData);
  }
}

/** A principal, a kind and an action: only resources are new. */
class QuestionAsking implements PreparedQuestion {
  readonly #backing: Backing;
  readonly #who: Who;
  readonly #topic: Topic;
  readonly #auxData: unknown;

  constructor(backing: Backing, who: Who, topic: Topic, auxData: unknown) {
    this.#backing = backing;
    this.#who = who;
    this.#topic = topic;
    this.#auxData = auxData;
  }

  isAllowed(resource: Resource): boolean {
    const backing = this.#backing;
    let answer: number;
    try {
      answer = decideTopic(backing.plans, this.#who, this.#topic, resource);
      if (answer === UNSURE && backing.plans.refresh()) {
        answer = decideTopic(backing.plans, this.#who, this.#topic, resource);
      }
    } catch (thrown) {
      throw backing.failure(thrown);
    }
    if (answer !== UNSURE) return answer === ALLOW;
    const { principal } = this.#who;
    const { action } = this.#topic;
    return backing.general({ principal, action, resource: this.#topic.completed(resource), auxData: this.#auxData });
  }

  filter<R extends Resource>(resources: readonly R[]): R[] {
    if (this.#topic.isSelecting) return listed(resources).filter((resource) => this.isAllowed(resource));
    return filterRows(this.#backing, this.#who, this.#topic.action, resources, this.#auxData);
  }
}

/** A kind and an action, about which principals ask. */
export class ActionAsking implements PreparedAction {
  readonly #backing: Backing;
  readonly #topic: Topic;

  constructor(backing: Backing, topic: Asked) {
    this.#backing = backing;
    this.#topic = readTopic(topic);
  }

  isAllowed(principal: Principal, resource: Resource, auxData?: AuxData): boolean {
    const backing = this.#backing;
    let answer: number;
    try {
      answer = decideAction(backing.plans, this.#topic, principal, resource);
      if (answer === UNSURE && backing.plans.refresh()) {
        answer = decideAction(backing.plans, this.#topic, principal, resource);
      }
    } catch (thrown) {
      throw backing.failure(thrown);
    }
    if (answer !== UNSURE) return answer === ALLOW;
    return backing.general({ principal, action: this.#topic.action, resource: this.#topic.completed(resource), auxData });
  }

  filter<R extends Resource>(principal: Principal, resources: readonly R[], auxData?: AuxData): R[] {
    if (this.#topic.isSelecting) {
      return listed(resources).filter((resource) => this.isAllowed(principal, resource, auxData));
    }
    return filterRows(this.#backing, new Who(principal), this.#topic.action, resources, auxData);
  }
}

function readTopic(topic: unknown): Topic {
  if (!isObject(topic)) throw new TypeError(`what is prepared must be an object, found ${describe(topic)}`);
  for (const name of Object.keys(topic)) {
    if (!TOPIC.includes(name)) {
      throw new TypeError(`unknown field \`${name}\` in what is prepared, expected one of ${TOPIC.join(", ")}`);
    }
  }
  const { kind, action } = topic;
  const [scope, policyVersion] = ["scope", "policyVersion"].map((name) => (Object.hasOwn(topic, name) ? topic[name] : undefined));
  if (typeof kind !== "string") throw new TypeError(`kind must be a string, found ${describe(kind)}`);
  if (typeof action !== "string") throw new TypeError(`action must be a string, found ${describe(action)}`);
  return new Topic(kind, action, readSelecting(scope, "scope"), readSelecting(policyVersion, "policyVersion"));
}

function readSelecting(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError(`${name} must be a string, found ${describe(value)}`);
}

/** A copy of what is to be filtered, every place of it. */
function listed<R>(resources: readonly R[]): R[] {
  if (!Array.isArray(resources)) throw new TypeError(`resources must be an array, found ${describe(resources)}`);
  return Array.from<R>(resources);
}

const TOPIC: readonly string[] = ["kind", "action", "policyVersion", "scope"];
