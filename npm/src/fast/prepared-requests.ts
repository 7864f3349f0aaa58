// Principals and targets that are prepared once for many requests.
//
// The prepared data belongs to a bundle: after a reload it is computed again.

import * as entry from "./accessors.ts";
import * as encoder from "./generated/encode-resource.ts";
import { listOf, ownList, type FastPathList } from "./kinds.ts";
import type { Fields } from "../base/plain.ts";
import type { FastPath, FastPaths, RoleTable } from "./fast-paths.ts";

/** A principal whose members were read once, with its role masks. */
export class PrincipalRecord {
  readonly id: string = "";
  readonly roles: readonly unknown[] = [];
  /** The attributes; `NOTHING` if there are none. */
  readonly attr: Fields = NOTHING;
  /** The principal as the general path gets it. */
  readonly principal: unknown;
  /** True if only the general path may judge it. */
  readonly needsGeneralPath: boolean = true;
  /** The members that select policies of the principal itself, read once. */
  readonly #selecting: Fields = NOTHING;
  // The masks, by the number of the role table.
  #masks: number[] = [];
  #edition = -1;

  constructor(principal: unknown) {
    this.principal = principal;
    if (isDisturbed() || !isObject(principal) || !isPlain(principal)) return;
    // A misspelt member may be meant to select policies. The check costs once here what it would
    // cost in every decision.
    if (!hasOnly(principal, PRINCIPAL_MEMBERS)) return;
    const { id, roles, attr, scope } = principal;
    if (typeof id !== "string" || !Array.isArray(roles)) return;
    if (attr !== undefined && (!isObject(attr) || !isPlain(attr))) return;
    this.id = id;
    this.#selecting = { id, scope };
    this.roles = roles;
    this.attr = attr ?? NOTHING;
    this.needsGeneralPath = false;
  }

  /**
   * Returns the mask of its roles, or the number of classes; -1 if only the general path may judge
   * them.
   */
  mask(fastPaths: FastPaths, { flags, roles }: FastPath): number {
    if (flags & BY_CLASS) return classesOf(roles, this.roles, fastPaths.frame);
    if (this.#edition !== fastPaths.edition) {
      this.#edition = fastPaths.edition;
      this.#masks = [];
    }
    return this.#masks[roles.id] ?? this.#learn(roles);
  }

  /** Returns the principal if it has policies of its own. */
  own({ hasPrincipals, principals }: FastPaths): Fields | undefined {
    return hasPrincipals === true && principals.has(this.id) ? this.#selecting : undefined;
  }

  #learn(table: RoleTable): number {
    return (this.#masks[table.id] = maskOf(table, this.roles));
  }
}

/** Decides a request of a prepared principal. */
export function decideForPrincipal(
  fastPaths: FastPaths,
  record: PrincipalRecord,
  action: unknown,
  resource: unknown,
  auxData?: unknown,
): number {
  const serial = begin();
  if (record.needsGeneralPath || typeof action !== "string" || isDisturbed()) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (typeof kind !== "string") return UNSURE;
  const list = listFor(fastPaths, kind, scope, policyVersion, record.own(fastPaths));
  const fastPath = list === null ? null : planFor(list, action);
  if (fastPath === null) return UNSURE;
  const mask = record.mask(fastPaths, fastPath);
  const tokens = fastPath.readsTokens ? tokensOf(auxData) : NO_TOKENS;
  if (mask < 0 || tokens === null) return UNSURE;
  return decideResource(fastPaths, fastPath, mask, record.id, record.roles, record.attr, kind, resource, tokens, serial);
}

/** Returns the fast path for resources without scope and version; `null` if only the general path may decide. */
export function pathForPrincipal(fastPaths: FastPaths, record: PrincipalRecord, kind: string, action: string): FastPath | null {
  if (record.needsGeneralPath || isDisturbed() || fastPaths.isExpired()) return null;
  const list = listFor(fastPaths, kind, undefined, undefined, record.own(fastPaths));
  return list === null ? null : planFor(list, action);
}

/** The members of a resource that select policies, and a principal with policies of its own. */
interface Selection {
  readonly scope?: unknown;
  readonly version?: unknown;
  readonly own?: Fields | undefined;
}

/** A kind and an action, with their fast path in the bundle in use. */
export class PreparedTarget {
  readonly kind: string;
  readonly action: string;
  /** The scope and version for resources without one. */
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

  /** Returns true if this target supplies a scope or version for resources without one. */
  get isSelecting(): boolean {
    return this.scope !== undefined || this.policyVersion !== undefined;
  }

  /**
   * Returns the resource for the general path, with the scope and version of this target. Invalid
   * resources stay as they are.
   */
  completed(resource: unknown): unknown {
    const isRecord = Object.prototype.toString.call(resource) === "[object Object]";
    if (!this.isSelecting || !isObject(resource) || !isRecord) return resource;
    // Inherited members are left out.
    const members = Object.entries(resource).filter(([, value]) => value !== undefined);
    return Object.fromEntries([["scope", this.scope], ["policyVersion", this.policyVersion], ...members]);
  }

  /**
   * Returns the fast path for a resource with these members; `null` if only the general path may
   * decide.
   */
  fastPathFor(fastPaths: FastPaths, kind: string, scope: unknown, version: unknown, own: Fields | undefined): FastPath | null {
    const isMine = own === undefined && kind === this.kind && (scope === undefined || scope === this.scope) &&
      (version === undefined || version === this.policyVersion);
    if (isMine) return this.fastPath(fastPaths);
    const list = this.listFor(fastPaths, kind, { scope, version, own });
    return list === null ? null : planFor(list, this.action);
  }

  /** Returns the list for a resource with these members, and for a principal. */
  listFor(fastPaths: FastPaths, kind: string, { scope, version, own }: Selection): FastPathList | null {
    const { scope: mine, policyVersion } = this;
    return listFor(fastPaths, kind, scope === undefined ? mine : scope, version === undefined ? policyVersion : version, own);
  }

  /** Returns the fast path of this target. */
  fastPath(fastPaths: FastPaths): FastPath | null {
    if (this.#edition === fastPaths.edition) return this.#fastPath;
    const list = this.listFor(fastPaths, this.kind, {});
    this.#fastPath = list === null ? null : planFor(list, this.action);
    // A dead frame finds no fast paths; the next call of the general path revives it.
    if (fastPaths.isLive) this.#edition = fastPaths.edition;
    return this.#fastPath;
  }
}

/** Decides a principal that is not prepared, for a prepared target. */
export function decideAction(
  fastPaths: FastPaths,
  target: PreparedTarget,
  principal: unknown,
  resource: unknown,
  auxData?: unknown,
): number {
  const serial = begin();
  if (isDisturbed() || !isObject(principal) || (principal.__proto__ !== OBJECT && !isPlain(principal))) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (typeof kind !== "string") return UNSURE;
  const { id, roles } = principal;
  if (typeof id !== "string" || !Array.isArray(roles)) return UNSURE;
  const own = fastPaths.hasPrincipals === true && fastPaths.principals.has(id) ? principal : undefined;
  const fastPath = target.fastPathFor(fastPaths, kind, scope, policyVersion, own);
  if (fastPath === null) return UNSURE;
  const mask = fastPath.flags & BY_CLASS ? classesOf(fastPath.roles, roles, fastPaths.frame) : maskOf(fastPath.roles, roles);
  if (mask < 0) return UNSURE;
  let attributes: Fields = NOTHING;
  if (fastPath.readsPrincipal === true) {
    const { attr } = principal;
    if (isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr))) attributes = attr;
    else if (attr !== undefined || !hasOnly(principal, PRINCIPAL_MEMBERS)) return UNSURE;
  }
  const tokens = fastPath.readsTokens ? tokensOf(auxData) : NO_TOKENS;
  if (tokens === null) return UNSURE;
  return decideResource(fastPaths, fastPath, mask, id, roles, attributes, kind, resource, tokens, serial);
}

/** Decides a resource for a prepared principal and target. */
export function decideTarget(
  fastPaths: FastPaths,
  record: PrincipalRecord,
  target: PreparedTarget,
  resource: unknown,
  auxData?: unknown,
): number {
  const serial = begin();
  if (record.needsGeneralPath || isDisturbed()) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, scope, policyVersion } = resource;
  if (typeof kind !== "string") return UNSURE;
  const fastPath = target.fastPathFor(fastPaths, kind, scope, policyVersion, record.own(fastPaths));
  if (fastPath === null) return UNSURE;
  const mask = record.mask(fastPaths, fastPath);
  const tokens = fastPath.readsTokens ? tokensOf(auxData) : NO_TOKENS;
  if (mask < 0 || tokens === null) return UNSURE;
  return decideResource(fastPaths, fastPath, mask, record.id, record.roles, record.attr, kind, resource, tokens, serial);
}

/** Returns the list of fast paths for a resource, and for a principal with policies of its own. */
export const listFor = (
  fastPaths: FastPaths,
  kind: string,
  scope: unknown,
  version: unknown,
  own: Fields | undefined,
): FastPathList | null => {
  const kinds = scope === undefined && version === undefined ? fastPaths.kinds : fastPaths.kindsOf(version, scope);
  if (kinds === null) return null;
  return own === undefined ? listOf(fastPaths, kinds, kind) : ownList(fastPaths, kinds, own, kind);
};

// Constants of this module: see `encode-request.ts`.
const { begin, classesOf, frames, hasOnly, isDisturbed, isObject, isPlain, maskOf, NOTHING, planFor } = entry;
const { NO_TOKENS, PRINCIPAL_MEMBERS, tokensOf } = entry;
const { BY_CLASS, UNSURE } = frames;
const { decideResource } = encoder;

const OBJECT = Object.prototype;
