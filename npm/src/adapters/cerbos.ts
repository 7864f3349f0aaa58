// A client with the shape of the ones of Cerbos, which decides with a PDP in this process: the entry `wardgate/cerbos`.
//
// Code that was written for `@cerbos/http`, `@cerbos/grpc` or `@cerbos/react` runs with it unchanged: the same methods,
// answers and errors, without a server. It manages no policies and plans no queries.

import { describe, isPromise } from "../base/describe.ts";
import { knownMembers } from "../base/option.ts";
import type { Decision, Json } from "../pdp/decision.ts";
import type { AttributeHolder, AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";
import { CheckResourcesResponse, CheckResourcesResult, NotOK, Status, ValidationFailed, type Effect, type ValidationError } from "./cerbos-answers.ts";

export { CheckResourcesResponse, CheckResourcesResult, NotOK, Status, ValidationFailed };
export type { Effect, OutputResult, ResourceSearch, ResultMetadata, ValidationError } from "./cerbos-answers.ts";

/** A principal; `attributes` is another name of `attr`. */
export interface CerbosPrincipal extends Principal {
  readonly attributes?: AttributeHolder | undefined;
}

/** A resource; `attributes` is another name of `attr`. */
export interface CerbosResource extends Resource {
  readonly attributes?: AttributeHolder | undefined;
}

/** A token that a server of Cerbos would verify. */
export interface Token {
  readonly token: string;
  readonly keySetId?: string | undefined;
}

/** Tokens of a request. */
export interface CerbosAuxData {
  readonly jwt?: Token | undefined;
  readonly jwts?: { readonly [name: string]: Token } | undefined;
}

interface Common {
  readonly principal: CerbosPrincipal;
  readonly auxData?: CerbosAuxData | undefined;
  /** True for the policy that matched each action, and the derived roles. */
  readonly includeMetadata?: boolean | undefined;
  readonly requestId?: string | undefined;
  /** Data for audit logs of a server. It changes no decision, and nothing is done with it here. */
  readonly requestContext?: object | undefined;
}

/** Actions on one resource. */
export interface ResourceCheck {
  readonly resource: CerbosResource;
  readonly actions: readonly string[];
}

export interface CheckResourceRequest extends Common, ResourceCheck {}

export interface CheckResourcesRequest extends Common {
  readonly resources: readonly ResourceCheck[];
}

export interface IsAllowedRequest extends Common {
  readonly resource: CerbosResource;
  readonly action: string;
}

/** The options of one call. Headers are for servers, and nothing is done with them here. */
export interface RequestOptions {
  readonly headers?: unknown;
  /** Ends the call, if it is not decided yet. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of a client. */
export interface CerbosOptions {
  /** What to do if attributes violate an enforced schema: by default the errors are part of the answer. */
  readonly onValidationError?: "throw" | ((errors: ValidationError[]) => unknown) | undefined;
  /**
   * Verifies a token, and returns its claims. Without it a request with a token is refused: a PDP
   * verifies none.
   */
  readonly decodeJWTPayload?: ((token: Token) => AttributeHolder | PromiseLike<AttributeHolder>) | undefined;
}

/** A PDP, or a function that returns one for each request, such as `() => watcher.ready`. */
export type CerbosPdp = Pdp | (() => Pdp | PromiseLike<Pdp>);

/**
 * A client of Cerbos that decides with a PDP.
 *
 * @example
 *     const cerbos = new Cerbos(await open(bundle, { trust }));
 *     await cerbos.isAllowed({ principal, resource, action: "view" });
 */
export class Cerbos {
  readonly #pdp: CerbosPdp;
  readonly #options: CerbosOptions;

  constructor(pdp: CerbosPdp, options: CerbosOptions = {}) {
    if (typeof pdp !== "function" && typeof (pdp as Partial<Pdp> | null)?.check !== "function") {
      throw new TypeError(`the PDP must be one that \`open\` returned, or a function, found ${describe(pdp)}${isPromise(pdp) ? "; await it" : ""}`);
    }
    knownMembers(options, ["onValidationError", "decodeJWTPayload"]);
    this.#pdp = pdp;
    this.#options = options;
  }

  /** Returns true if the principal may perform the action on the resource. */
  async isAllowed({ action, ...rest }: IsAllowedRequest, options?: RequestOptions): Promise<boolean> {
    return (await this.checkResource({ ...rest, actions: [action] }, options)).isAllowed(action) === true;
  }

  /** Decides actions on one resource. */
  async checkResource({ resource, actions, ...rest }: CheckResourceRequest, options?: RequestOptions): Promise<CheckResourcesResult> {
    return (await this.checkResources({ ...rest, resources: [{ resource, actions }] }, options)).results[0]!;
  }

  /** Decides actions on several resources. */
  async checkResources(request: CheckResourcesRequest, { signal }: RequestOptions = {}): Promise<CheckResourcesResponse> {
    signal?.throwIfAborted();
    const response = await this.#decide(request);
    signal?.throwIfAborted();
    const { onValidationError } = this.#options;
    const errors = response.validationErrors;
    if (onValidationError !== undefined && errors.length > 0) {
      if (onValidationError === "throw") throw new ValidationFailed(errors);
      onValidationError(errors);
    }
    return response;
  }

  /** Rejects: this package plans no queries. Use `filter` of the PDP for rows that are loaded. */
  async planResources(): Promise<never> {
    throw new NotOK(Status.UNIMPLEMENTED, "queries are not planned; filter loaded rows with the PDP");
  }

  /** Returns a client for one principal. */
  withPrincipal(principal: CerbosPrincipal, auxData?: CerbosAuxData): CerbosWithPrincipal {
    return new CerbosWithPrincipal(this, principal, auxData);
  }

  /** What `@cerbos/react` compares to know that policies have changed. */
  get ["~updateSignal"](): unknown {
    return typeof this.#pdp === "function" ? undefined : this.#pdp.header.content;
  }

  async #decide({ principal, resources, auxData, includeMetadata, requestId = "" }: CheckResourcesRequest): Promise<CheckResourcesResponse> {
    if (!Array.isArray(resources) || resources.length === 0 || resources.some((one) => !(one?.actions?.length > 0))) {
      throw new NotOK(Status.INVALID_ARGUMENT, "a request needs at least one resource, and each resource at least one action");
    }
    const verified = await this.#verified(auxData);
    try {
      const pdp = typeof this.#pdp === "function" ? await this.#pdp() : this.#pdp;
      const who = withAttr(principal);
      const requests = resources.map(({ resource, actions }: ResourceCheck) => ({ principal: who, resource: withAttr(resource), actions, requestId, ...verified }));
      const decisions = pdp.checkMany(requests);
      return new CheckResourcesResponse(requestId, decisions.map((decision, at) => resultOf(decision, resources[at]!.resource, includeMetadata === true)));
    } catch (error) {
      throw notOk(error);
    }
  }

  async #verified(auxData: CerbosAuxData | undefined): Promise<{ readonly auxData?: AuxData }> {
    const { jwt, jwts } = auxData ?? {};
    if (!jwt && !jwts) return {};
    const { decodeJWTPayload } = this.#options;
    if (decodeJWTPayload === undefined) throw new NotOK(Status.INVALID_ARGUMENT, "a token needs the option `decodeJWTPayload`, which verifies it");
    try {
      const read = async ([name, token]: [string, Token]) => [name, { claims: await decodeJWTPayload(token) }] as const;
      return {
        auxData: {
          ...(jwt && { jwt: await decodeJWTPayload(jwt) }),
          ...(jwts && { jwts: Object.fromEntries(await Promise.all(Object.entries(jwts).map(read))) }),
        },
      };
    } catch (error) {
      throw new NotOK(Status.INVALID_ARGUMENT, "a token was not verified", error);
    }
  }
}

/** A client for one principal. */
export class CerbosWithPrincipal {
  readonly client: Cerbos;
  readonly principal: CerbosPrincipal;
  readonly auxData: CerbosAuxData | undefined;

  constructor(client: Cerbos, principal: CerbosPrincipal, auxData?: CerbosAuxData) {
    this.client = client;
    this.principal = principal;
    this.auxData = auxData;
  }

  isAllowed(request: Omit<IsAllowedRequest, "principal">, options?: RequestOptions): Promise<boolean> {
    return this.client.isAllowed(this.#merged(request), options);
  }

  checkResource(request: Omit<CheckResourceRequest, "principal">, options?: RequestOptions): Promise<CheckResourcesResult> {
    return this.client.checkResource(this.#merged(request), options);
  }

  checkResources(request: Omit<CheckResourcesRequest, "principal">, options?: RequestOptions): Promise<CheckResourcesResponse> {
    return this.client.checkResources(this.#merged(request), options);
  }

  planResources(): Promise<never> {
    return this.client.planResources();
  }

  #merged<R extends { readonly auxData?: CerbosAuxData | undefined }>(request: R): R & { readonly principal: CerbosPrincipal } {
    const { jwt, jwts } = request.auxData ?? {};
    return { ...request, principal: this.principal, auxData: jwt || jwts ? request.auxData : this.auxData };
  }
}

/** Returns the principal or resource with its attributes under one name. */
function withAttr<P extends { readonly attr?: AttributeHolder | undefined; readonly attributes?: AttributeHolder | undefined }>(part: P): Omit<P, "attributes"> {
  if (typeof part !== "object" || part === null) return part;
  const { attributes, ...rest } = part;
  return attributes === undefined ? rest : { ...rest, attr: part.attr ?? attributes };
}

function resultOf(decision: Decision, { kind, id, policyVersion = "", scope = "" }: CerbosResource, includeMetadata: boolean): CheckResourcesResult {
  const decided = Object.entries(decision.actions);
  const metadata = () => ({
    actions: Object.fromEntries(decided.map(([action, { policy, scope }]) => [action, { matchedPolicy: policy, matchedScope: scope }])),
    effectiveDerivedRoles: [...(decision.effectiveDerivedRoles ?? [])],
  });
  return new CheckResourcesResult({
    resource: { kind, id, policyVersion, scope },
    actions: Object.fromEntries(decided.map(([action, { effect }]): [string, Effect] => [action, effect === "allow" ? "EFFECT_ALLOW" : "EFFECT_DENY"])),
    validationErrors: [...(decision.validationErrors ?? [])],
    metadata: includeMetadata ? metadata() : undefined,
    outputs: (decision.outputs ?? []).map(({ action, src, val, error }) => ({ action, source: src, value: val as Json | undefined, error })),
  });
}

/** Returns an error of Cerbos for one of the PDP. */
function notOk(error: unknown): NotOK {
  if (error instanceof NotOK) return error;
  const isOfCaller = error instanceof TypeError || error instanceof RangeError;
  return new NotOK(isOfCaller ? Status.INVALID_ARGUMENT : Status.INTERNAL, error instanceof Error ? error.message : String(error), error);
}
