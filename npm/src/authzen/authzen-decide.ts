// Answers questions of AuthZEN with a PDP. This is the one place where a subject becomes a principal.
//
// Conditions read the context as `request.auxData.jwts.context.claims` and the properties of the action as
// `request.auxData.jwts.action.claims`. Not as `request.auxData.jwt`: nothing that a caller merely says may
// look like the claims of a token that somebody has verified. For the same reason a context with tokens of
// Cerbos is refused: there is nothing here that could verify them, and to decide without them would be to
// decide something else.

import { AuthzenError, type Action, type Entity, type Evaluation } from "./authzen-read.ts";
import type { Decision, Output } from "../pdp/decision.ts";
import { describe } from "../base/describe.ts";
import type { ActionRequest, Attributes, AuxData, Pdp, Principal, Resource } from "../pdp/types.ts";

/** What a host knows of entities beyond what a request says; nothing for those that it does not know. */
export interface Directory {
  subject(type: string, id: string): Attributes | undefined;
  resource(type: string, id: string): Attributes | undefined;
}

/** The answer to one question. */
export interface Answer {
  readonly decision: boolean;
  readonly context?: {
    /** What the rules hand back to the caller. */
    readonly outputs?: readonly Output[];
    /** Why this question could not be asked. The decision is then `false`. */
    readonly error?: { readonly status: number; readonly message: string };
  };
}

/** The answers to several questions, in their order. */
export interface Answers {
  readonly evaluations: readonly Answer[];
}

/**
 * Answers one question. What the directory knows stands in for properties that the request does not name.
 *
 * @throws AuthzenError if the request says something that no request can say.
 */
export function evaluate(pdp: Pdp, evaluation: Evaluation, directory?: Directory): Answer {
  const { principal, resource, action, auxData } = toRequest(evaluation, directory);
  return answerOf(() => pdp.check({ principal, resource, actions: [action], auxData }), action);
}

/** The answer that a decision on one action comes to. */
export function answerOf(check: () => Decision, action: string): Answer {
  const { actions, outputs } = withRequestErrors(check);
  const isAllowed = Object.hasOwn(actions, action) && actions[action]?.effect === "allow";
  return outputs === undefined ? { decision: isAllowed } : { decision: isAllowed, context: { outputs } };
}

/** The request that a question means. */
export function toRequest(evaluation: Evaluation, directory?: Directory): ActionRequest {
  const { subject, action, resource, context } = evaluation;
  return {
    principal: toPrincipal(subject, directory),
    action: action.name,
    resource: toResource(resource, directory),
    auxData: toAuxData(action, context),
  };
}

/** The principal that a subject means: its roles are its property `roles`, or else its type. */
export function toPrincipal(subject: Entity, directory?: Directory): Principal {
  const { own, attr } = split([ROLES, VERSION, SCOPE], directory?.subject(subject.type, subject.id), subject.properties);
  const named = own.get(ROLES);
  const roles = named === undefined ? (namesIn(attr["roles"]) ?? [subject.type]) : namesIn(named);
  if (roles === undefined) throw wrong(ROLES, "an array of strings", named);
  return { id: subject.id, roles, attr, ...selected(own) };
}

/** The resource that a resource of AuthZEN means. */
export function toResource(resource: Entity, directory?: Directory): Resource {
  const { own, attr } = split([VERSION, SCOPE], directory?.resource(resource.type, resource.id), resource.properties);
  return { kind: resource.type, id: resource.id, attr, ...selected(own) };
}

/** Where conditions find context and properties of the action. Both are there even if they are empty. */
export function toAuxData(action: Action | undefined, context: Attributes | undefined): AuxData {
  if (context !== undefined && Object.hasOwn(context, TOKENS)) {
    throw new AuthzenError(`\`context\` must not have \`${TOKENS}\`: tokens cannot be verified here`);
  }
  return { jwts: { context: { claims: context ?? {} }, action: { claims: action?.properties ?? {} } } };
}

/** Runs a call to the PDP. What it says of the arguments, it says of the request that they come from. */
export function withRequestErrors<T>(call: () => T): T {
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof TypeError || thrown instanceof RangeError)) throw thrown;
    throw new AuthzenError(thrown.message, { cause: thrown });
  }
}

/** The members that select policies, apart from the attributes. The later of two of one name counts. */
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
