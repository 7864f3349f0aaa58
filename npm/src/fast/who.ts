// A principal, and a kind with an action, that are known before the rest of a question.
//
// What was worked out for them belongs to a bundle: after a reload it is worked out again.

import * as entry from "./accessors.ts";
import * as encoder from "./encoder-prepared.ts";
import type { PlanList } from "./kinds.ts";
import type { Fields } from "../base/plain.ts";
import type { Plan, Plans, RoleTable } from "./plans.ts";

/** A principal, read. */
export class Who {
  readonly id: string = "";
  readonly roles: readonly unknown[] = [];
  /** `NOTHING` if it has none. */
  readonly attr: Fields = NOTHING;
  /** The principal as the general path gets it. */
  readonly principal: unknown;
  /** Only the general path may judge it. */
  readonly isOdd: boolean = true;
  // By the number of the table of roles.
  #masks: number[] = [];
  #edition = -1;

  constructor(principal: unknown) {
    this.principal = principal;
    if (isDisturbed() || !isObject(principal) || !isPlain(principal)) return;
    // A misspelt member may be meant to select policies. It costs once what it would cost in every decision.
    if (!Object.keys(principal).every((name) => MEMBERS.has(name))) return;
    const { id, roles, attr } = principal;
    if (typeof id !== "string" || !Array.isArray(roles)) return;
    if (attr !== undefined && (!isObject(attr) || !isPlain(attr))) return;
    this.id = id;
    this.roles = roles;
    this.attr = attr ?? NOTHING;
    this.isOdd = false;
  }

  /** What stands for its roles in a plan; -1 if they are odd. */
  mask(plans: Plans, { flags, roles }: Plan): number {
    if (flags & BY_CLASS) return classesOf(roles, this.roles, plans.frame);
    if (this.#edition !== plans.edition) {
      this.#edition = plans.edition;
      this.#masks = [];
    }
    return this.#masks[roles.id] ?? this.#learn(roles);
  }

  #learn(table: RoleTable): number {
    return (this.#masks[table.id] = maskOf(table, this.roles));
  }
}

/** Decides for a principal that is prepared. */
export function decideFor(plans: Plans, who: Who, action: unknown, resource: unknown): number {
  const mine = begin();
  if (who.isOdd || typeof action !== "string" || isDisturbed()) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (typeof kind !== "string") return UNSURE;
  const list = listFor(plans, kind, scope, policyVersion);
  const plan = list === null ? null : planFor(list, action);
  if (plan === null || (plans.hasPrincipals === true && plans.principals.has(who.id))) return UNSURE;
  const mask = who.mask(plans, plan);
  if (mask < 0) return UNSURE;
  return decideResource(plans, plan, mask, who.id, who.roles, who.attr, kind, resource, mine);
}

/** A kind and an action, with the plan for them in the bundle in use. */
export class Topic {
  readonly kind: string;
  readonly action: string;
  /** Those of resources that name none. */
  readonly scope: string | undefined;
  readonly policyVersion: string | undefined;
  #edition = -1;
  #plan: Plan | null = null;

  constructor(kind: string, action: string, scope?: string, policyVersion?: string) {
    this.kind = kind;
    this.action = action;
    this.scope = scope;
    this.policyVersion = policyVersion;
  }

  /** Whether resources that name no scope and no version have some here. */
  get isSelecting(): boolean {
    return this.scope !== undefined || this.policyVersion !== undefined;
  }

  /** The resource as the general path is to see it. What is no resource is for that path to refuse. */
  completed(resource: unknown): unknown {
    const isRecord = Object.prototype.toString.call(resource) === "[object Object]";
    if (!this.isSelecting || !isObject(resource) || !isRecord) return resource;
    // What an object inherits is none of its members.
    const members = Object.entries(resource).filter(([, value]) => value !== undefined);
    return Object.fromEntries([["scope", this.scope], ["policyVersion", this.policyVersion], ...members]);
  }

  /** The plan; `null` if only the general path may answer. */
  plan(plans: Plans): Plan | null {
    if (this.#edition === plans.edition) return this.#plan;
    const list = listFor(plans, this.kind, this.scope, this.policyVersion);
    this.#plan = list === null ? null : planFor(list, this.action);
    // A dead frame finds no plans, and lives again after the general path was asked.
    if (plans.isLive) this.#edition = plans.edition;
    return this.#plan;
  }
}

/** Decides for a principal that is not prepared on a resource of a kind that is. */
export function decideAction(plans: Plans, topic: Topic, principal: unknown, resource: unknown): number {
  const mine = begin();
  if (isDisturbed() || !isObject(principal) || (principal.__proto__ !== OBJECT && !isPlain(principal))) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (kind !== topic.kind || (scope !== undefined && scope !== topic.scope)) return UNSURE;
  if (policyVersion !== undefined && policyVersion !== topic.policyVersion) return UNSURE;
  const plan = topic.plan(plans);
  if (plan === null) return UNSURE;
  const { id, roles } = principal;
  if (typeof id !== "string" || !Array.isArray(roles)) return UNSURE;
  if (plans.hasPrincipals === true && plans.principals.has(id)) return UNSURE;
  const mask = plan.flags & BY_CLASS ? classesOf(plan.roles, roles, plans.frame) : maskOf(plan.roles, roles);
  const attr = plan.readsPrincipal === true ? principal["attr"] : undefined;
  if (mask < 0) return UNSURE;
  if (attr !== undefined && (!isObject(attr) || (attr.__proto__ !== OBJECT && !isPlain(attr)))) return UNSURE;
  return decideResource(plans, plan, mask, id, roles, attr ?? NOTHING, topic.kind, resource, mine);
}

/** Decides on a resource of a kind that is prepared; of others, and of other policies, it knows nothing. */
export function decideTopic(plans: Plans, who: Who, topic: Topic, resource: unknown): number {
  const mine = begin();
  if (who.isOdd || isDisturbed()) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (kind !== topic.kind || (scope !== undefined && scope !== topic.scope)) return UNSURE;
  if (policyVersion !== undefined && policyVersion !== topic.policyVersion) return UNSURE;
  const plan = topic.plan(plans);
  if (plan === null || (plans.hasPrincipals === true && plans.principals.has(who.id))) return UNSURE;
  const mask = who.mask(plans, plan);
  if (mask < 0) return UNSURE;
  return decideResource(plans, plan, mask, who.id, who.roles, who.attr, topic.kind, resource, mine);
}

/** Finds the list of plans for a resource. */
export const listFor = (plans: Plans, kind: string, scope: unknown, version: unknown): PlanList | null => {
  const kinds = scope === undefined && version === undefined ? plans.kinds : plans.kindsOf(version, scope);
  if (kinds === null) return null;
  const place = digest(kind) & kinds.mask;
  return kinds.names[place] === kind ? kinds.lists[place]! : kinds.miss(plans, kind);
};

// Constants of this module: see `encoder.ts`.
const { begin, classesOf, digest, frames, isDisturbed, isObject, isPlain, maskOf, NOTHING, planFor } = entry;
const { BY_CLASS, UNSURE } = frames;
const { decideResource } = encoder;

const OBJECT = Object.prototype;
const MEMBERS: ReadonlySet<string> = new Set(["id", "roles", "attr", "policyVersion", "scope"]);
