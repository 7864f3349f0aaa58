// Answers evaluations of AuthZEN with a PDP. A subject becomes a principal here and nowhere else in
// the package.
//
// Conditions read the context as `request.auxData.jwts.context.claims` and the properties of the
// action as `request.auxData.jwts.action.claims`. They are not in `request.auxData.jwt`, because
// unverified data from a caller must not look like the claims of a verified token. A context with
// tokens of Cerbos is refused for the same reason: this code cannot verify them, and a decision
// without them would be a different decision.

import { AuthzenError, type Action, type Entity, type Evaluation } from "./authzen-read.ts";
import type { Decision, Output } from "../pdp/decision.ts";
import { describe } from "../base/describe.ts";
import type { ActionRequest, Attributes, AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

/**
 * The attributes that a host knows of entities, beside the ones in a request; `undefined` for
 * unknown entities.
 */
export interface Directory {
  /** Returns the attributes of a subject; `undefined` if it is unknown. */
  subject(type: string, id: string): Attributes | undefined;
  /** Returns the attributes of a resource; `undefined` if it is unknown. */
  resource(type: string, id: string): Attributes | undefined;
}

/** The answer to one evaluation. */
export interface Answer {
  /** True if the action is allowed. */
  readonly decision: boolean;
  /** Further data about the decision. */
  readonly context?: {
    /** The outputs of the rules. */
    readonly outputs?: readonly Output[];
    /** The rate limits that the action meets, in answers that charge them. */
    readonly limits?: readonly LimitEntry[];
    /** The error that prevented this evaluation. The decision is then `false`. */
    readonly error?: { readonly status: number; readonly message: string };
  };
}

/** A rate limit of the policies in an answer: see `context.limits` of the server. */
export interface LimitEntry {
  /** The error, in words, if an expression of the limit failed. */
  readonly error?: string;
  /** The name of the limit. */
  readonly name: string;
  /** The tokens of a window. */
  readonly quota: number;
  /** The tokens that a charge can take now; absent if nobody knows. */
  readonly remaining?: number;
  /** The milliseconds until the key is full; absent if nobody knows. */
  readonly resetMs?: number;
  /** The milliseconds until the cost is there; absent if it never will be, or nobody knows. */
  readonly retryAfterMs?: number;
  /** What became of it. */
  readonly state: "charged" | "untouched" | "refused" | "never" | "shadow" | "store-away" | "failed";
}

/** The answers to several evaluations, in their order. */
export interface Answers {
  /** The answers, in the order of the evaluations. */
  readonly evaluations: readonly Answer[];
}

/**
 * Answers one evaluation. The directory supplies the properties that the request leaves out.
 *
 * @throws AuthzenError if the request is invalid.
 */
export function evaluate(pdp: Pdp, evaluation: Evaluation, directory?: Directory): Answer {
  const { principal, resource, action, auxData } = toRequest(evaluation, directory);
  return answerOf(() => pdp.check({ principal, resource, actions: [action], auxData }), action);
}

/** Returns the answer for a decision on one action. */
export function answerOf(check: () => Decision, action: string): Answer {
  return answerTo(withRequestErrors(check), action);
}

/** Returns the answer that a decision gives to one action. */
export function answerTo({ actions, outputs }: Decision, action: string): Answer {
  const isAllowed = Object.hasOwn(actions, action) && actions[action]?.effect === "allow";
  return outputs === undefined ? { decision: isAllowed } : { decision: isAllowed, context: { outputs } };
}

/** Converts an evaluation to a request to the PDP. */
export function toRequest(evaluation: Evaluation, directory?: Directory): ActionRequest {
  const { subject, action, resource, context } = evaluation;
  return {
    principal: toPrincipal(subject, directory),
    action: action.name,
    resource: toResource(resource, directory),
    auxData: toAuxData(action, context),
  };
}

/**
 * Converts a subject to a principal. Its roles are the property `roles`, or else the type of the
 * subject.
 */
export function toPrincipal(subject: Entity, directory?: Directory): Principal {
  const { own, attr } = split([ROLES, VERSION, SCOPE], directory?.subject(subject.type, subject.id), subject.properties);
  const named = own.get(ROLES);
  const roles = named === undefined ? (namesIn(attr["roles"]) ?? [subject.type]) : namesIn(named);
  if (roles === undefined) throw wrong(ROLES, "an array of strings", named);
  return { id: subject.id, roles, attr, ...selected(own) };
}

/** Converts a resource of AuthZEN to a resource of the PDP. */
export function toResource(resource: Entity, directory?: Directory): Resource {
  const { own, attr } = split([VERSION, SCOPE], directory?.resource(resource.type, resource.id), resource.properties);
  return { kind: resource.type, id: resource.id, attr, ...selected(own) };
}

/**
 * Returns the auxiliary data under which conditions read the context and the properties of the
 * action. Both members are present even if they are empty.
 */
export function toAuxData(action: Action | undefined, context: Attributes | undefined): AuxData {
  if (context !== undefined && Object.hasOwn(context, TOKENS)) {
    throw new AuthzenError(`\`context\` must not have \`${TOKENS}\`: tokens cannot be verified here`);
  }
  return { jwts: { context: { claims: context ?? {} }, action: { claims: action?.properties ?? {} } } };
}

/**
 * Runs a call to the PDP, and turns its `TypeError` and `RangeError` into an `AuthzenError` about
 * the request.
 */
export function withRequestErrors<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof TypeError || thrown instanceof RangeError)) throw thrown;
    throw new AuthzenError(thrown.message, { cause: thrown });
  }
}

/**
 * Separates the members that select policies from the attributes. Of two members with one name the
 * later one counts.
 */
function split(selecting: readonly string[], ...all: readonly (Attributes | undefined)[]) {
  const members = all.flatMap((properties) => Object.entries(properties ?? {}));
  const own = new Map(members.filter(([name]) => selecting.includes(name)));
  const attr: Attributes = Object.fromEntries(members.filter(([name]) => !selecting.includes(name)));
  return { own, attr };
}

function selected(own: ReadonlyMap<string, unknown>): { policyVersion?: string; scope?: string } {
  const [policyVersion, scope] = [readSelecting(own, VERSION), readSelecting(own, SCOPE)];
  return { ...(policyVersion !== undefined && { policyVersion }), ...(scope !== undefined && { scope }) };
}

function readSelecting(own: ReadonlyMap<string, unknown>, name: string): string | undefined {
  const value = own.get(name);
  if (value === undefined || typeof value === "string") return value;
  throw wrong(name, "a string", value);
}

function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : undefined;
}

function wrong(name: string, expected: string, found: unknown): AuthzenError {
  return new AuthzenError(`the property \`${name}\` must be ${expected}, found ${describe(found)}`);
}

/** The name that Cerbos gives to tokens in the context. */
const TOKENS = "cerbos.auxData";
// The names that Cerbos gives to these properties.
const ROLES = "cerbos.roles";
const VERSION = "cerbos.policyVersion";
const SCOPE = "cerbos.scope";
