// Checks a request on fast paths with verdicts: whole decisions without writing the request into
// the module.
//
// It reads the members that select the rules and those that the rules read. Unlike `isAllowed` it
// refuses, by leaving the request to the general path, every member that a request does not have.
// An error or a violation of a schema is for the general path too: see `crates/fastpath/src/verdict.rs`.
// Outputs are made by programs on the frame of the verdict: see `outputs_with` of the engine.

import * as entry from "../fast/accessors.ts";
import * as encoder from "../fast/generated/encode-values.ts";
import { isWellFormed } from "../base/text.ts";
import { writeTime } from "../fast/derived.ts";
import { callState } from "../wasm/reentrancy.ts";
import { ALWAYS, CLASSES_AT, EMITS, NOW, PROGRAMS, TRUE, UNKNOWN } from "../wasm/frame.ts";
import { Answer } from "./answer.ts";
import type { ActionDecision, Decision, Output, Reason } from "./decision.ts";
import type { Fields, Tokens } from "../base/plain.ts";
import type { FastPath, FastPaths, RoleTable } from "../fast/fast-paths.ts";
import { NO_POLICY, type VerdictList, type VerdictPath } from "../fast/verdict-list.ts";

/** Returns the decision on a request; `null` if the general path must decide. */
export function checkFast(fastPaths: FastPaths, request: unknown): Decision | null {
  const serial = begin();
  if (isDisturbed() || "actions" in OBJECT || "requestId" in OBJECT || "auxData" in OBJECT) return null;
  if (!isObject(request) || (request.__proto__ !== OBJECT && !isPlain(request))) return null;
  const { principal, actions, resource, requestId, auxData } = request;
  const tokens = tokensOf(auxData);
  if (tokens === null || (requestId !== undefined && (typeof requestId !== "string" || !isWellFormed(requestId)))) return null;
  if (members(request) !== 3 + +(requestId !== undefined) + +(auxData !== undefined) && !hasOnly(request, REQUEST_MEMBERS)) return null;
  if (!isObject(principal) || (principal.__proto__ !== OBJECT && !isPlain(principal))) return null;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return null;
  const { id, roles, attr: ownAttr, scope: ownScope, policyVersion: ownVersion } = principal;
  const own = 2 + +(ownAttr !== undefined) + +(ownScope !== undefined) + +(ownVersion !== undefined);
  if (members(principal) !== own && !hasOnly(principal, PRINCIPAL_MEMBERS)) return null;
  const { kind, id: resourceId, attr, scope, policyVersion } = resource;
  const known = 2 + +(attr !== undefined) + +(scope !== undefined) + +(policyVersion !== undefined);
  if (members(resource) !== known && !hasOnly(resource, RESOURCE_MEMBERS)) return null;
  if (typeof id !== "string" || id.length > MAX_NAME) return null;
  const hasPolicy = fastPaths.hasPrincipals && fastPaths.principals.has(id);
  // The scope and version of a principal select policies of its own, and mean nothing if it has none.
  if (hasPolicy ? ownScope !== undefined || ownVersion !== undefined : !isName(ownScope) || !isName(ownVersion)) return null;
  if (typeof kind !== "string" || typeof resourceId !== "string" || !isWellFormed(resourceId)) return null;
  const principalAttr = ownAttr === undefined ? NOTHING : ownAttr;
  const resourceAttr = attr === undefined ? NOTHING : attr;
  if (!isObject(principalAttr) || Array.isArray(principalAttr) || (principalAttr.__proto__ !== OBJECT && !isPlain(principalAttr))) return null;
  if (!isObject(resourceAttr) || Array.isArray(resourceAttr) || (resourceAttr.__proto__ !== OBJECT && !isPlain(resourceAttr))) return null;
  if (!Array.isArray(roles) || roles.length === 0 || roles.length > MAX_ROLES) return null;
  if (!Array.isArray(actions) || actions.length === 0 || actions.length > MAX_ACTIONS) return null;

  const list = fastPaths.verdicts(kind, policyVersion, scope, hasPolicy ? id : undefined);
  if (list === null || (fastPaths.canExpire && fastPaths.isExpired())) return null;
  const who: Parts = { id, roles: roles as readonly unknown[], principalAttr, kind, resourceId, resourceAttr, tokens };
  const call: Call = { fastPaths, serial, now: -1, table: null, outputs: null };
  const { length } = actions;
  let scopes = 0;
  for (let at = 0; at < length; at += 1) {
    const action: unknown = actions[at];
    if (typeof action !== "string" || action === "__proto__") return null;
    const path = list.path(action);
    if (path === null) return null;
    const answer = verdictOf(call, path.fastPath, who);
    if (answer === UNKNOWN) return null;
    if (answer & EMITS && isFirst(action, at) && !emits(call, list, path, answer, action, roles.length)) return null;
    scopes = Math.max(scopes, (answer >>> 16) & 63);
    NAMES[at] = action;
    PATHS[at] = path;
    ANSWERS[at] = answer;
  }
  let granted = 0;
  if (list.grants !== null) {
    granted = grantedBy(call, list.grants, who, scopes);
    if (granted === UNKNOWN) return null;
  }
  // From here on no code of the caller runs.
  const decided: Record<string, ActionDecision> = {};
  for (let at = 0; at < length; at += 1) {
    const text = list.text(PATHS[at]!, ANSWERS[at]!);
    if (text === null) return null;
    const { effect, policy, scope, reason: { kind, rule } } = text;
    const reason = (rule === undefined ? { kind } : { kind, rule }) as Reason;
    decided[NAMES[at]!] = { effect, policy, scope, reason };
  }
  const decision = new Answer(requestId ?? "", resourceId, decided);
  if (granted !== 0) decision.effectiveDerivedRoles = [...list.names(granted)];
  if (call.outputs !== null) decision.outputs = call.outputs;
  return decision;
}

/** Returns true if the actions before this position do not name this one. */
const isFirst = (action: string, at: number): boolean => {
  for (let before = 0; before < at; before += 1) if (NAMES[before] === action) return false;
  return true;
};

/** Adds the outputs beside the last verdict; returns false if the general path must make them. */
const emits = (call: Call, list: VerdictList, path: VerdictPath, answer: number, action: string, roles: number): boolean => {
  const outputs = list.outputs(path, answer, roles, call.now);
  if (outputs === null) return false;
  for (const output of outputs) {
    output.action = action;
    (call.outputs ??= []).push(output);
  }
  // The call took a serial, and no code of the caller has run since the verdict.
  call.serial = callState.serial;
  return true;
};

/** Returns true for what the general path takes as a scope or version, if it is not long. */
const isName = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && value.length <= MAX_NAME && isWellFormed(value));

/** The parts of a request that slots are read from. */
interface Parts {
  readonly id: string;
  readonly roles: readonly unknown[];
  readonly principalAttr: Fields;
  readonly kind: string;
  readonly resourceId: string;
  readonly resourceAttr: Fields;
  readonly tokens: Tokens;
}

/** The state of one check. */
interface Call {
  readonly fastPaths: FastPaths;
  serial: number;
  /** The time, read once. */
  now: number;
  /** The role table whose masks are in the frame. */
  table: RoleTable | null;
  /** The outputs so far; `null` if there are none. */
  outputs: Output[] | null;
}

/** Returns the answer of `verdict` for an action. */
const verdictOf = (call: Call, path: FastPath, who: Parts): number => {
  if (!encode(call, path, who)) return UNKNOWN;
  const { fastPaths: { frame, handle }, now } = call;
  if (call.table !== path.roles) {
    for (let at = 0; at < who.roles.length; at += 1) {
      const role = who.roles[at];
      const mask = typeof role === "string" ? maskOfOne(path.roles, role) : -1;
      if (mask < 0) return UNKNOWN;
      frame.words[CLASSES_AT + at] = mask;
    }
    call.table = path.roles;
  }
  if (callState.serial !== call.serial || frame.words[ALWAYS] !== TRUE) return UNKNOWN;
  writeTime(frame, path.times, now);
  if (path.id === NO_POLICY) return NOTHING_APPLIES;
  callState.isDeciding = true;
  const answer = frame.verdict(handle, path.id, who.roles.length, frame.used, now);
  callState.isDeciding = false;
  return answer;
};

/** Returns the answer of `grants`. */
const grantedBy = (call: Call, path: FastPath, who: Parts, scopes: number): number => {
  const mask = maskOf(path.roles, who.roles);
  if (mask < 0 || !encode(call, path, who)) return UNKNOWN;
  const { fastPaths: { frame, handle }, now } = call;
  if (callState.serial !== call.serial || frame.words[ALWAYS] !== TRUE) return UNKNOWN;
  writeTime(frame, path.times, now);
  callState.isDeciding = true;
  const answer = frame.grants(handle, path.id, mask, scopes, frame.used, now);
  callState.isDeciding = false;
  return answer;
};

/** Writes the slots of a fast path, and reads the clock if a program may. */
const encode = (call: Call, path: FastPath, who: Parts): boolean => {
  const { id, roles, principalAttr, kind, resourceId, resourceAttr, tokens } = who;
  const { fastPaths } = call;
  if (encodeValues(fastPaths, path, id, roles, principalAttr, kind, resourceId, resourceAttr, tokens) !== ENCODED) return false;
  if (path.flags & (PROGRAMS | NOW) && call.now < 0) call.now = fastPaths.clock();
  return true;
};

// Constants of this module: see `encode-request.ts`.
const { begin, hasOnly, isDisturbed, isObject, isPlain, maskOf, maskOfOne, NOTHING } = entry;
const { PRINCIPAL_MEMBERS, RESOURCE_MEMBERS, tokensOf } = entry;
const { encodeValues, ENCODED } = encoder;
const OBJECT = Object.prototype;
const REQUEST_MEMBERS: ReadonlySet<string> = new Set(["principal", "actions", "resource", "requestId", "auxData"]);

/** Returns the number of members, inherited ones included. */
const members = (object: object): number => {
  let count = 0;
  for (const _ in object) count += 1;
  return count;
};

/** The actions of one check, with their fast paths and answers. */
const NAMES: string[] = [];
const PATHS: VerdictPath[] = [];
const ANSWERS: number[] = [];

/** The answer of `verdict` if no entry applies, in no scope. */
const NOTHING_APPLIES = 0;
/** The compiler has counted the steps of so many actions; masks of so many roles fit into the frame. */
const MAX_ACTIONS = 16;
const MAX_ROLES = 31;
/** The general path charges steps for longer names. */
const MAX_NAME = 192;
