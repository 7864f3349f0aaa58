// A principal, and a kind with an action, that are known before the rest of a question.
//
// What was worked out for them belongs to a bundle: after a reload it is worked out again.

import * as entry from "./accessors.ts";
import * as encoder from "./generated/encode-resource.ts";
import type { FastPathList } from "./kinds.ts";
import type { Fields } from "../base/plain.ts";
import type { FastPath, FastPaths, RoleTable } from "./fast-paths.ts";

/** A principal, read. */
export class PrincipalRecord {
  readonly id: string = "";
  readonly roles: readonly unknown[] = [];
  /** `NOTHING` if it has none. */
  readonly attr: Fields = NOTHING;
  /** The principal as the general path gets it. */
  readonly principal: unknown;
  /** Only the general path may judge it. */
  readonly needsGeneralPath: boolean = true;
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
    this.needsGeneralPath = false;
  }

  /** What stands for its roles in a plan; -1 if they are odd. */
  mask(fastPaths: FastPaths, { flags, roles }: FastPath): number {
    if (flags & BY_CLASS) return classesOf(roles, this.roles, fastPaths.frame);
    if (this.#edition !== fastPaths.edition) {
      this.#edition = fastPaths.edition;
      this.#masks = [];
    }
    return this.#masks[roles.id] ?? this.#learn(roles);
  }

  #learn(table: RoleTable): number {
    return (this.#masks[table.id] = maskOf(table, this.roles));
  }
}

/** Decides for a principal that is prepared. */
export function decideForPrincipal(fastPaths: FastPaths, record: PrincipalRecord, action: unknown, resource: unknown): number {
  const serial = begin();
  if (record.needsGeneralPath || typeof action !== "string" || isDisturbed()) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (typeof kind !== "string") return UNSURE;
  const list = listFor(fastPaths, kind, scope, policyVersion);
  const fastPath = list === null ? null : planFor(list, action);
  if (fastPath === null || (fastPaths.hasPrincipals === true && fastPaths.principals.has(record.id))) return UNSURE;
  const mask = record.mask(fastPaths, fastPath);
  if (mask < 0) return UNSURE;
  return decideResource(fastPaths, fastPath, mask, record.id, record.roles, record.attr, kind, resource, serial);
}

/** A kind and an action, with the plan for them in the bundle in use. */
export class PreparedTarget {
  readonly kind: string;
  readonly action: string;
  /** Those of resources that name none. */
  readonly scope: string | undefined;
  readonly policyVersion: string | undefined;
  #edition = -1;
  #fastPath: FastPath | null = null;

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
  fastPath(fastPaths: FastPaths): FastPath | null {
    if (this.#edition === fastPaths.edition) return this.#fastPath;
    const list = listFor(fastPaths, this.kind, this.scope, this.policyVersion);
    this.#fastPath = list === null ? null : planFor(list, this.action);
    // A dead frame finds no plans, and lives again after the general path was asked.
    if (fastPaths.isLive) this.#edition = fastPaths.edition;
    return this.#fastPath;
  }
}

/** Decides for a principal that is not prepared on a resource of a kind that is. */
export function decideAction(fastPaths: FastPaths, target: PreparedTarget, principal: unknown, resource: unknown): number {
  const serial = begin();
  if (isDisturbed() || !isObject(principal) || (principal.__proto__ !== OBJECT && !isPlain(principal))) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (kind !== target.kind || (scope !== undefined && scope !== target.scope)) return UNSURE;
  if (policyVersion !== undefined && policyVersion !== target.policyVersion) return UNSURE;
  const fastPath = target.fastPath(fastPaths);
  if (fastPath === null) return UNSURE;
  const { id, roles } = principal;
  if (typeof id !== "string" || !Array.isArray(roles)) return UNSURE;
  if (fastPaths.hasPrincipals === true && fastPaths.principals.has(id)) return UNSURE;
  const mask = fastPath.flags & BY_CLASS ? classesOf(fastPath.roles, roles, fastPaths.frame) : maskOf(fastPath.roles, roles);
  const attr = fastPath.readsPrincipal === true ? principal["attr"] : undefined;
  if (mask < 0) return UNSURE;
  if (attr !== undefined && (!isObject(attr) || (attr.__proto__ !== OBJECT && !isPlain(attr)))) return UNSURE;
  return decideResource(fastPaths, fastPath, mask, id, roles, attr ?? NOTHING, target.kind, resource, serial);
}

/** Decides on a resource of a kind that is prepared; of others, and of other policies, it knows nothing. */
export function decideTarget(fastPaths: FastPaths, record: PrincipalRecord, target: PreparedTarget, resource: unknown): number {
  const serial = begin();
  if (record.needsGeneralPath || isDisturbed()) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (kind !== target.kind || (scope !== undefined && scope !== target.scope)) return UNSURE;
  if (policyVersion !== undefined && policyVersion !== target.policyVersion) return UNSURE;
  const fastPath = target.fastPath(fastPaths);
  if (fastPath === null || (fastPaths.hasPrincipals === true && fastPaths.principals.has(record.id))) return UNSURE;
  const mask = record.mask(fastPaths, fastPath);
  if (mask < 0) return UNSURE;
  return decideResource(fastPaths, fastPath, mask, record.id, record.roles, record.attr, target.kind, resource, serial);
}

/** Finds the list of plans for a resource. */
export const listFor = (fastPaths: FastPaths, kind: string, scope: unknown, version: unknown): FastPathList | null => {
  const kinds = scope === undefined && version === undefined ? fastPaths.kinds : fastPaths.kindsOf(version, scope);
  if (kinds === null) return null;
  const place = digest(kind) & kinds.mask;
  return kinds.names[place] === kind ? kinds.lists[place]! : kinds.miss(fastPaths, kind);
};

// Constants of this module: see `encode-request.ts`.
const { begin, classesOf, digest, frames, isDisturbed, isObject, isPlain, maskOf, NOTHING, planFor } = entry;
const { BY_CLASS, UNSURE } = frames;
const { decideResource } = encoder;

const OBJECT = Object.prototype;
const MEMBERS: ReadonlySet<string> = new Set(["id", "roles", "attr", "policyVersion", "scope"]);
