// The code that the adapters for frameworks share: it turns a request of the framework into a
// request to the PDP.

import { describe, isPromise, membersOf } from "../base/describe.ts";
import { expected } from "../base/nearest.ts";
import type { ActionOf, KindOf, PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";
import type { AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

/** A PDP, or a function that returns one for each request, such as `() => watcher.ready`. */
export type PdpSource<P extends PolicyTypes = RegisteredTypes> = Pdp<P> | (() => Pdp<P> | Promise<Pdp<P>>);

/**
 * A value, or a function that reads it from the request of the framework. The function may be
 * asynchronous.
 */
export type FromContext<C, T> = T | ((context: C) => T | Promise<T>);

/**
 * The parts of an authorization request, and how to read each of them from a request of the
 * framework.
 *
 * A missing principal or resource is denied. An exception is an error of the request; it never lets
 * the request pass.
 */
export interface Question<C, P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>> {
  /**
   * Returns the principal that the framework has authenticated; `undefined` or `null` if there is
   * none.
   */
  readonly principal: (context: C) => Absent<Principal<P>> | Promise<Absent<Principal<P>>>;
  /** The action, such as `view`. */
  readonly action: FromContext<C, ActionOf<P, K>>;
  /** The resource. It is read only if there is a principal. */
  readonly resource: FromContext<C, Absent<Resource<P, K>>>;
  /** Verified data about the request, such as the claims of a token. */
  readonly auxData?: FromContext<C, AuxData | undefined> | undefined;
}

type Absent<T> = T | null | undefined;

/**
 * A limiter of `wardgate/ratelimit` with a PDP: `limiter(pdp, { store })`. It decides, and charges the limits
 * of the policies.
 */
export interface Limits {
  check(request: { readonly principal: Principal; readonly action: string; readonly resource: Resource; readonly auxData?: AuxData | undefined }): Promise<LimitedAnswer>;
}

/** The parts of an answer of a limiter that adapters use. */
export interface LimitedAnswer {
  readonly allowed: boolean;
  /** The fields of the response about limits. */
  readonly headers: Readonly<Record<string, string>>;
  /** The document to answer with, if a limit denies. */
  readonly problem: { readonly status: number } | undefined;
}

/** Returns a function that decides whether a request of the framework is allowed. */
export function authorizer<C, P extends PolicyTypes, K extends KindOf<P>>(
  source: PdpSource<P>, question: Question<C, P, K>, limits?: Limits,
): (context: C) => Promise<LimitedAnswer> {
  mustBeQuestion(question);
  if (typeof source !== "function" && typeof (source as Partial<Pdp<P>> | null)?.isAllowed !== "function") {
    throw new TypeError(`the PDP must be one that \`open\` returned, or a function, found ${describe(source)}${isPromise(source) ? "; await it" : ""}`);
  }
  return async (context) => {
    const principal = await question.principal(context);
    if (principal === undefined || principal === null) return DENIED;
    const resource = await resolve(question.resource, context);
    if (resource === undefined || resource === null) return DENIED;
    const action = await resolve(question.action, context);
    const auxData = await resolve(question.auxData, context);
    if (limits !== undefined) return limits.check({ principal, action, resource, auxData });
    const pdp = typeof source === "function" ? await source() : source;
    // Only `true` lets a request pass; a truthy value does not.
    return pdp.isAllowed({ principal, action, resource, auxData }) === true ? ALLOWED : DENIED;
  };
}

/** The options that adapters share. */
interface Options<F> {
  readonly denied?: F | undefined;
  readonly limits?: Limits | undefined;
}

/** Reads the options of an adapter. */
export function readOptions<F>(options: Options<F> | undefined, otherwise: F): { readonly denied: F; readonly limits: Limits | undefined } {
  const members = membersOf(options ?? {});
  if (members === undefined) throw new TypeError(`options must be an object, found ${describe(options)}`);
  mustBeKnown(members, ["denied", "limits"], "option");
  const denied = options?.denied;
  if (denied !== undefined && typeof denied !== "function") {
    throw new TypeError(`option \`denied\` must be a function, found ${describe(denied)}`);
  }
  const limits = options?.limits;
  if (limits !== undefined && typeof (limits as Partial<Limits> | null)?.check !== "function") {
    throw new TypeError(`option \`limits\` must be a limiter of a PDP, found ${describe(limits)}`);
  }
  return { denied: denied ?? otherwise, limits };
}

/**
 * Returns an error for any thrown value. Frameworks take some other values for a pass, or for the way
 * to another handler.
 */
export function failure(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error("the request could not be authorized", { cause: thrown });
}

const ALLOWED: LimitedAnswer = { allowed: true, headers: {}, problem: undefined };
const DENIED: LimitedAnswer = { allowed: false, headers: {}, problem: undefined };

function mustBeQuestion(question: unknown): void {
  const members = membersOf(question);
  if (members === undefined) throw new TypeError(`a question must be an object, found ${describe(question)}`);
  mustBeKnown(members, ["principal", "action", "resource", "auxData"], "member");
  if (typeof members.get("principal") !== "function") {
    throw new TypeError(`\`principal\` must be a function, found ${describe(members.get("principal"))}`);
  }
  for (const [name, kind] of [["action", "string"], ["resource", "object"]] as const) {
    const part = members.get(name);
    if (part === undefined) throw new TypeError(`\`${name}\` is missing in the question`);
    if (typeof part !== kind && typeof part !== "function") throw new TypeError(`\`${name}\` must be of the kind ${kind}, or a function, found ${describe(part)}`);
  }
}

function mustBeKnown(members: ReadonlyMap<string, unknown>, names: readonly string[], what: string): void {
  for (const name of members.keys()) {
    if (!names.includes(name)) throw new TypeError(`unknown ${what} \`${name}\`${expected(name, names)}`);
  }
}

async function resolve<C, T>(from: FromContext<C, T>, context: C): Promise<T> {
  return typeof from === "function" ? (from as (context: C) => T | Promise<T>)(context) : from;
}
