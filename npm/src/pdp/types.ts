// What a caller hands in, and what it gets to hold.

/// <reference lib="esnext.disposable" preserve="true" />

import type { CheckManyOptions } from "./check-many.ts";
import type { Decision, Explanation } from "./decision.ts";
import type { BundleHeader } from "./header.ts";
import type { SpocpRules } from "./spocp-types.ts";
import type { Address, ByteStream, FetchResponse } from "../base/web.ts";

/** A compiled set of policies, as `wardgate compile` writes it, signed and perhaps sealed. */
export type Bundle = Uint8Array | ArrayBuffer;

/** A bundle, or where it comes from. Of what arrives, no more is read than `maxBytes` allows. */
export type BundleSource = Bundle | FetchResponse | PromiseLike<FetchResponse> | Address | ByteStream;

/** A module that `wardgate compile --emit` wrote. What stands in it is between the two of them. */
export interface Accessors {
  readonly format: number;
  /** The digest of the bundle that it was written for. */
  readonly bundle: string;
  /** The names that it reads, in the order of its places. */
  readonly names: readonly string[];
  readonly decideRequest: (...given: never) => unknown;
}

/**
 * What an attribute may be. A `Date` stands for its ISO text and a `Map` with string keys for an
 * object; a member that is `undefined` is absent.
 */
export type AttributeValue =
  | null
  | boolean
  | number
  | string
  | Date
  | readonly AttributeValue[]
  | ReadonlyMap<string, AttributeValue | undefined>
  | AttributeHolder;

/** Attributes under their names: enumerable members of the object itself. */
export interface Attributes {
  readonly [name: string]: AttributeValue | undefined;
}

/**
 * Attributes, or an object that has them as members: one of an interface or a class. Of the members of those the compiler
 * knows too little to say more than that this is no list, no `Map` and no function; what is no {@link AttributeValue} is
 * refused where it is read.
 */
export type AttributeHolder =
  | Attributes
  | (object & { readonly [Symbol.iterator]?: never; readonly [Symbol.hasInstance]?: never });

/** Who wants to act. */
export interface Principal {
  readonly id: string;
  readonly roles: readonly string[];
  readonly attr?: AttributeHolder | undefined;
  readonly policyVersion?: string | undefined;
  readonly scope?: string | undefined;
}

/** What is acted on. */
export interface Resource {
  readonly kind: string;
  readonly id: string;
  readonly attr?: AttributeHolder | undefined;
  readonly policyVersion?: string | undefined;
  readonly scope?: string | undefined;
}

/** Data about the request that the caller has verified. */
export interface AuxData {
  /** Claims of a token whose signature the caller has checked. */
  readonly jwt?: AttributeHolder | undefined;
  /** Several such tokens under the names by which conditions know them. */
  readonly jwts?: { readonly [name: string]: { readonly claims: AttributeHolder } } | undefined;
}

interface RequestParts {
  readonly principal: Principal;
  readonly resource: Resource;
  readonly auxData?: AuxData | undefined;
  readonly requestId?: string | undefined;
}

/** May the principal perform this action on the resource? */
export interface ActionRequest extends RequestParts {
  readonly action: string;
}

/** Which of these actions may the principal perform on the resource? */
export interface CheckRequest extends RequestParts {
  readonly actions: readonly string[];
}

/** On which of these resources may the principal perform the action? */
export interface FilterRequest<R extends Resource> {
  readonly principal: Principal;
  readonly action: string;
  readonly resources: readonly R[];
  readonly auxData?: AuxData | undefined;
}

/** A kind of resource and an action, about which there will be many questions. */
export interface Topic {
  readonly kind: string;
  readonly action: string;
  /** The version and scope of resources that name none themselves. */
  readonly policyVersion?: string | undefined;
  readonly scope?: string | undefined;
}

/** A principal who will ask several times, as it was when it was prepared. */
export interface PreparedPrincipal {
  /** Decides one action. */
  isAllowed(action: string, resource: Resource): boolean;
  /** Returns the resources on which the action is allowed, in their order. */
  filter<R extends Resource>(action: string, resources: readonly R[]): R[];
  /** Prepares further, for resources of one kind and one action. */
  prepare(topic: Topic): PreparedQuestion;
}

/** A principal, a kind and an action. It may be asked about resources of other kinds too, only slower. */
export interface PreparedQuestion {
  /** Decides on one resource. */
  isAllowed(resource: Resource): boolean;
  /** Returns the resources on which the action is allowed, in their order. */
  filter<R extends Resource>(resources: readonly R[]): R[];
}

/** A kind and an action. It may be asked about resources of other kinds too, only slower. */
export interface PreparedAction {
  /** Decides for one principal. */
  isAllowed(principal: Principal, resource: Resource, auxData?: AuxData): boolean;
  /** Returns the resources on which the action is allowed, in their order. */
  filter<R extends Resource>(principal: Principal, resources: readonly R[], auxData?: AuxData): R[];
}

/** What changes from one `reload` to the next; everything else is as it was when the PDP was opened. */
export interface ReloadOptions {
  /**
   * The lowest revision that is accepted. What was given to `open` holds too; and where keys are trusted,
   * so does the revision in use.
   */
  readonly minRevision?: number | undefined;
  /** The time for which the dates of the bundle are looked at; what the clock says unless given. */
  readonly now?: number | Date | undefined;
}

/**
 * An opened bundle that decides.
 *
 * Every method throws a `TypeError` for a value of the wrong kind, a `RangeError` for one that is not
 * possible, and a `WardgateError` for everything else.
 *
 * Where only a yes or no is asked for, a request is not looked at beyond what the answer depends on: ids,
 * roles, kind, scope and version of the resource, the action, and the attributes that the rules about
 * this kind and action read. A misspelt or unreadable member elsewhere is an error of `check` and
 * `explain`, which read everything, and of the others where everything has to be read: when attributes
 * are wanted and there are none, or when the request holds what a plan does not foresee, such as a `Map`, a
 * `Date`, an instance of a class, or more than 64 roles. What is read once for many decisions is looked at closely:
 * misspelt members of a principal are refused by `for` and by every `filter`, and of a topic by `prepare`. So beware
 * of `policy_version` and the like in a resource where the compiler does not look: `isAllowed` and `filter` may take
 * it for one without a version, and `check` refuses it. To look for it would cost more than the decision. Members that `Object.keys` does not list, which no
 * JSON has, may be read by one and not by the other: do not hide attributes so.
 */
export interface Pdp {
  /** Decides one action. */
  isAllowed(request: ActionRequest): boolean;
  /** Decides several requests, each like `isAllowed`. */
  isAllowedMany(requests: readonly ActionRequest[]): boolean[];
  /** Returns the resources on which the principal may perform the action, in their order. */
  filter<R extends Resource>(request: FilterRequest<R>): R[];
  /** Prepares a principal, once for many questions. What the caller changes in it later has no effect. */
  for(principal: Principal, auxData?: AuxData): PreparedPrincipal;
  /** Prepares a kind and an action, for many principals. */
  prepare(topic: Topic): PreparedAction;
  /** Decides several actions, with what led to each decision. */
  check(request: CheckRequest): Decision;
  /**
   * Decides several requests, each like `check`; with `maxSteps` all of them together take no more steps than that. Requests in
   * a row with one principal object share it: it is read once.
   */
  checkMany(requests: readonly CheckRequest[], options?: CheckManyOptions): Decision[];
  /** Decides several actions, and returns the bytes that every host writes for this decision. */
  decisionBytes(request: CheckRequest): Uint8Array;
  /** Decides one action and says which rules were considered, and why each did or did not apply. */
  explain(request: ActionRequest): Explanation;
  /**
   * Returns the actions that rules about resources of this kind name, in any version and scope, in the
   * order of their text. What rules name by a pattern only, such as `view:*`, is not among them.
   */
  actions(kind: string): string[];
  /** The rules of SPOCP in the bundle in use, where the option `spocp` was given. */
  readonly spocp: SpocpRules | undefined;
  /** What the signers of the bundle in use said of it, and who they are. */
  readonly header: BundleHeader;
  /**
   * Takes a new bundle into use, all at once; when it is refused, the one in use stays. A delta is applied to
   * the bundle in use first, and what comes out is opened like any other bundle.
   *
   * @throws WardgateError when the bundle or delta is refused; its code is a {@link Refusal} and says why.
   */
  reload(bundle: Bundle, options?: ReloadOptions): void;
  /**
   * Checks a bundle or delta as `reload` would and returns its header; the bundle in use stays. A bundle that
   * passes may be refused later all the same: time goes on, and so does the revision in use.
   *
   * @throws WardgateError when the bundle or delta is refused; its code is a {@link Refusal} and says why.
   */
  examine(bundle: Bundle, options?: ReloadOptions): BundleHeader;
  /**
   * Calls `listener` after each `reload` that took a bundle into use; returns what ends that. What a listener
   * throws is reported like an exception in an event listener, and stops neither the reload nor the others.
   */
  onReload(listener: (header: BundleHeader) => void): () => void;
  /** Frees what the PDP holds. Using it afterwards is an error; disposing of it twice is not. */
  dispose(): void;
  /** The same as `dispose`, for `using`. */
  [Symbol.dispose](): void;
}

/** A PDP that was opened with the option `spocp`. */
export interface SpocpPdp extends Pdp {
  readonly spocp: SpocpRules;
}
