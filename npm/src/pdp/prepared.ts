// The results of `for` and `prepare`: requests with a part that is prepared.

import { filterRows, type Engine } from "../fast/batch.ts";
import type { FastPath } from "../fast/fast-paths.ts";
import { hashLists } from "../fast/derived.ts";
import { ALLOW, UNSURE } from "../wasm/frame.ts";
import { describe } from "../base/describe.ts";
import { expected } from "../base/nearest.ts";
import { isObject } from "../base/plain.ts";
import { snapshot } from "../base/snapshot.ts";
import type { AuxData, Principal, Resource } from "./request-types.ts";
import type { PreparedAction, PreparedPrincipal, PreparedQuestion } from "./types.ts";
import type { Target } from "./types.ts";
import { decideAction, decideForPrincipal, decideTarget, pathForPrincipal, PreparedTarget, PrincipalRecord } from "../fast/prepared-requests.ts";

/** A fast path, as far as what it reads is concerned. */
export type DecidingPath = Pick<FastPath, "flags" | "slots">;

/** The requests of one principal. */
export class PrincipalQueries implements PreparedPrincipal {
  readonly #engine: Engine;
  readonly #record: PrincipalRecord;
  readonly #auxData: unknown;

  constructor(engine: Engine, principal: Principal, auxData: AuxData | undefined) {
    this.#engine = engine;
    this.#record = new PrincipalRecord(snapshot(principal));
    hashLists(this.#record.attr);
    this.#auxData = snapshot(auxData);
  }

  isAllowed(action: string, resource: Resource): boolean {
    const engine = this.#engine;
    let answer: number;
    try {
      answer = decideForPrincipal(engine.fastPaths, this.#record, action, resource, this.#auxData);
      if (answer === UNSURE && engine.fastPaths.refresh()) {
        answer = decideForPrincipal(engine.fastPaths, this.#record, action, resource, this.#auxData);
      }
    } catch (thrown) {
      throw engine.failure(thrown);
    }
    if (answer !== UNSURE) return answer === ALLOW;
    return engine.general({ principal: this.#record.principal, action, resource, auxData: this.#auxData });
  }

  can(action: string, resource: Resource): boolean {
    return this.isAllowed(action, resource);
  }

  /** Returns what decides now about an action on a kind, for the gate of MQTT; `null` if that is not known. */
  pathFor(kind: string, action: string): DecidingPath | null {
    return pathForPrincipal(this.#engine.fastPaths, this.#record, kind, action);
  }

  filter<R extends Resource>(action: string, resources: readonly R[]): R[] {
    return filterRows(this.#engine, { record: this.#record, action, auxData: this.#auxData }, resources);
  }

  prepare(target: Target): PreparedQuestion {
    return new TargetQueries(this.#engine, this.#record, readTarget(target), this.#auxData);
  }
}

/** The requests of one principal for one kind and action; only the resource varies. */
class TargetQueries implements PreparedQuestion {
  readonly #engine: Engine;
  readonly #record: PrincipalRecord;
  readonly #target: PreparedTarget;
  readonly #auxData: unknown;

  constructor(engine: Engine, record: PrincipalRecord, target: PreparedTarget, auxData: unknown) {
    this.#engine = engine;
    this.#record = record;
    this.#target = target;
    this.#auxData = auxData;
  }

  isAllowed(resource: Resource): boolean {
    const engine = this.#engine;
    let answer: number;
    try {
      answer = decideTarget(engine.fastPaths, this.#record, this.#target, resource, this.#auxData);
      if (answer === UNSURE && engine.fastPaths.refresh()) {
        answer = decideTarget(engine.fastPaths, this.#record, this.#target, resource, this.#auxData);
      }
    } catch (thrown) {
      throw engine.failure(thrown);
    }
    if (answer !== UNSURE) return answer === ALLOW;
    const { principal } = this.#record;
    const { action } = this.#target;
    return engine.general({ principal, action, resource: this.#target.completed(resource), auxData: this.#auxData });
  }

  filter<R extends Resource>(resources: readonly R[]): R[] {
    const target = this.#target;
    return filterRows(this.#engine, { record: this.#record, action: target.action, target, auxData: this.#auxData }, resources);
  }
}

/** The requests for one kind and action; the principal and the resource vary. */
export class ActionQueries implements PreparedAction {
  readonly #engine: Engine;
  readonly #target: PreparedTarget;

  constructor(engine: Engine, target: Target) {
    this.#engine = engine;
    this.#target = readTarget(target);
  }

  isAllowed(principal: Principal, resource: Resource, auxData?: AuxData): boolean {
    const engine = this.#engine;
    let answer: number;
    try {
      answer = decideAction(engine.fastPaths, this.#target, principal, resource, auxData);
      if (answer === UNSURE && engine.fastPaths.refresh()) {
        answer = decideAction(engine.fastPaths, this.#target, principal, resource, auxData);
      }
    } catch (thrown) {
      throw engine.failure(thrown);
    }
    if (answer !== UNSURE) return answer === ALLOW;
    return engine.general({ principal, action: this.#target.action, resource: this.#target.completed(resource), auxData });
  }

  filter<R extends Resource>(principal: Principal, resources: readonly R[], auxData?: AuxData): R[] {
    const target = this.#target;
    return filterRows(this.#engine, { record: new PrincipalRecord(principal), action: target.action, target, auxData }, resources);
  }
}

function readTarget(target: unknown): PreparedTarget {
  if (!isObject(target)) throw new TypeError(`a target must be an object, found ${describe(target)}`);
  for (const name of Object.keys(target)) {
    if (!TARGET_FIELDS.includes(name)) {
      throw new TypeError(`unknown field \`${name}\` in a target${expected(name, TARGET_FIELDS)}`);
    }
  }
  const { kind, action } = target;
  const [scope, policyVersion] = ["scope", "policyVersion"].map((name) => (Object.hasOwn(target, name) ? target[name] : undefined));
  if (typeof kind !== "string") throw new TypeError(`kind must be a string, found ${describe(kind)}`);
  if (typeof action !== "string") throw new TypeError(`action must be a string, found ${describe(action)}`);
  return new PreparedTarget(kind, action, readSelecting(scope, "scope"), readSelecting(policyVersion, "policyVersion"));
}

function readSelecting(value: unknown, name: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError(`${name} must be a string, found ${describe(value)}`);
}

const TARGET_FIELDS: readonly string[] = ["kind", "action", "policyVersion", "scope"];
