// The types of requests: who asks, about what, and with which attributes.

import type { Decision } from "./decision.ts";
import type { ActionOf, AnyText, KindOf, PolicyTypes, RegisteredTypes } from "./policy-types.ts";

/**
 * The value of an attribute. A `Date` stands for its ISO text, a `Map` with string keys for an
 * object, and a `Set` for the list of its elements in the order in which they were added; a member
 * that is `undefined` is absent.
 */
export type AttributeValue =
  | null
  | boolean
  | number
  | string
  | Date
  | readonly AttributeValue[]
  | ReadonlySet<AttributeValue>
  | ReadonlyMap<string, AttributeValue | undefined>
  | AttributeHolder;

/** Attributes by their names: the enumerable own members of an object. */
export interface Attributes {
  /** The value of the attribute; `undefined` counts as absent. */
  readonly [name: string]: AttributeValue | undefined;
}

/**
 * Attributes, or an object with attributes as members, such as one of an interface, a class, or a row
 * of a database. For such an object the type only excludes lists, functions, and the built-in classes
 * that are no attributes, such as a `Promise` or a `Date`. Of a class the PDP reads the own members: a
 * getter, a method and a private member are absent. A member that is not an {@link AttributeValue} is
 * refused when it is read.
 */
export type AttributeHolder =
  | Attributes
  | (object & {
      readonly [Symbol.iterator]?: never;
      readonly [Symbol.hasInstance]?: never;
      readonly [Symbol.toPrimitive]?: never;
      readonly [Symbol.toStringTag]?: never;
    });

/**
 * The principal that wants to act.
 *
 * @example
 *     const ada: Principal = { id: "ada", roles: ["user"], attr: { department: "art" } };
 */
export interface Principal<P extends PolicyTypes = RegisteredTypes> {
  /** The id, which conditions read as `request.principal.id`. */
  readonly id: string;
  /** The roles. A principal without a role that rules name is denied. */
  readonly roles: readonly (P["roles"] | AnyText)[];
  /** The attributes, which conditions read as `request.principal.attr`. */
  readonly attr?: (AttributeHolder & P["principal"]["attr"]) | undefined;
  /** The version of the principal policies. Default: the default version of the bundle. */
  readonly policyVersion?: string | undefined;
  /** The scope of the principal policies, such as `acme.hr`. Default: the root. */
  readonly scope?: string | undefined;
}

/**
 * The attributes of resources of a kind. The attributes are looked up behind an `infer`, whose
 * constraint is `unknown`: see "Why do requests look up the attributes of their kind with `infer`?" in
 * `docs/DESIGN.md`.
 */
export type AttributesOf<P extends PolicyTypes, K extends KindOf<P>> = P["resources"][K]["attr"] extends infer A ? AttributeHolder & A : never;

/**
 * The resource on which the principal wants to act.
 *
 * @example
 *     const album: Resource = { kind: "album", id: "a1", attr: { owner: "ada" } };
 */
export interface Resource<P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>> {
  /** The kind, which selects the resource policies. */
  readonly kind: K;
  /** The id, which conditions read as `request.resource.id`. */
  readonly id: string;
  /** The attributes, which conditions read as `request.resource.attr`. */
  readonly attr?: AttributesOf<P, K> | undefined;
  /** The version of the resource policies. Default: the default version of the bundle. */
  readonly policyVersion?: P["resources"][K]["version"] | undefined;
  /** The scope of the resource policies, such as `acme.hr`. Default: the root. */
  readonly scope?: P["resources"][K]["scope"] | AnyText | undefined;
}

/** The constraint of a type of resources to filter. Their attributes are checked against their kind. */
export interface ResourceOfKind<K extends string> extends Omit<Resource<PolicyTypes>, "kind"> {
  /** The kind, which selects the resource policies. */
  readonly kind: K;
}

/** Data about the request that the caller has verified. */
export interface AuxData {
  /** The claims of a token whose signature the caller has verified. */
  readonly jwt?: AttributeHolder | undefined;
  /** The claims of several verified tokens, under their names in conditions. */
  readonly jwts?: { readonly [name: string]: { readonly claims: AttributeHolder } } | undefined;
}

interface RequestParts<P extends PolicyTypes, K extends KindOf<P>> {
  /** The principal that wants to act. */
  readonly principal: Principal<P>;
  /** The resource on which it wants to act. */
  readonly resource: Resource<P, K>;
  /** Verified data about the request, such as the claims of a token. */
  readonly auxData?: AuxData | undefined;
  /** An id that the decision of `check` repeats. */
  readonly requestId?: string | undefined;
}

/** A request about one action. */
export interface ActionRequest<P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>> extends RequestParts<P, K> {
  /** The action, such as `view`. */
  readonly action: ActionOf<P, K>;
}

/** A request about several actions; `A` is the type of their names. */
export interface CheckRequest<A extends string = string, P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>>
  extends RequestParts<P, K> {
  /** The actions, such as `["view", "edit"]`. */
  readonly actions: readonly A[];
}

/**
 * A request of `checkMany`, as far as it does not depend on the kind of its own resource: see {@link CheckedRequests}.
 */
export interface RequestOfMany<P extends PolicyTypes = RegisteredTypes> extends Omit<RequestParts<PolicyTypes, string>, "principal" | "resource"> {
  /** The principal that wants to act. */
  readonly principal: Principal<P>;
  /** The resource on which it wants to act. */
  readonly resource: ResourceOfKind<KindOf<P>>;
  /** The actions, such as `["view", "edit"]`. */
  readonly actions: readonly string[];
}

/**
 * Requests whose actions and attributes are those of the kinds of their resources. The common case, that nothing is
 * wrong, adds no type to the requests; otherwise each of them gets that of its kind instead, so that the error is at the
 * wrong member and names what it expects. See "Why do requests look up the attributes of their kind with `infer`?" in
 * `docs/DESIGN.md`.
 */
export type CheckedRequests<R extends readonly RequestOfMany<P>[], P extends PolicyTypes> = [WrongRequests<R, P>] extends [never] ? R : RequestsOnKinds<R, P>;

/** The places of the requests with another action or attribute. */
type WrongRequests<R extends readonly RequestOfMany<P>[], P extends PolicyTypes> = {
  readonly [at in keyof R]: R[at] extends RequestOnKind<P, R[at]["resource"]["kind"]> ? never : at;
}[number];

/** The types that requests of these kinds have. While `R` is inferred, the constraint of `infer` stands for them: it has no kinds. */
type RequestsOnKinds<R extends readonly RequestOfMany<P>[], P extends PolicyTypes> = {
  readonly [at in keyof R]: RequestOfMany<PolicyTypes> & RequestOnKind<P, R[at]["resource"]["kind"]>;
} extends infer Q extends readonly RequestOfMany<PolicyTypes>[] ? Q : never;

/** What the kind of a request determines. */
interface RequestOnKind<P extends PolicyTypes, K extends KindOf<P>> {
  readonly actions: readonly ActionOf<P, K>[];
  readonly resource: { readonly kind: K; readonly attr?: AttributesOf<P, K> | undefined; readonly policyVersion?: P["resources"][K]["version"] | undefined };
}

/** The decisions on a list of requests: one for each, with the actions of that request. */
export type Decisions<R extends readonly RequestOfMany<P>[], P extends PolicyTypes = PolicyTypes> = {
  -readonly [at in keyof R]: Decision<R[at]["actions"][number], P, R[at]["resource"]["kind"]>;
};

/** A request about one action on several resources. */
export interface FilterRequest<R extends ResourceOfKind<KindOf<P>>, P extends PolicyTypes = RegisteredTypes> {
  /** The principal that wants to act. */
  readonly principal: Principal<P>;
  /** The action, such as `view`. */
  readonly action: ActionOf<P, R["kind"]>;
  /** The resources to filter. */
  readonly resources: readonly (R & Resource<P, R["kind"]>)[];
  /** Verified data about the request, such as the claims of a token. */
  readonly auxData?: AuxData | undefined;
}

/** A request about one action on several rows, of which a function makes resources. */
export interface RowsRequest<T, P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>> {
  /** The principal that wants to act. */
  readonly principal: Principal<P>;
  /** The action, such as `view`. */
  readonly action: ActionOf<P, K>;
  /** The rows to filter, of any type. */
  readonly rows: readonly T[];
  /** Returns the resource of a row. It is called once for each row. */
  readonly resource: (row: T) => Resource<P, K>;
  /** Verified data about the request, such as the claims of a token. */
  readonly auxData?: AuxData | undefined;
}
