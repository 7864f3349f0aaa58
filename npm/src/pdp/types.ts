// The interface of a PDP, and what it opens and prepares.

/// <reference lib="esnext.disposable" preserve="true" />

import type { CheckManyOptions } from "./check-many.ts";
import type { Decision, Explanation } from "./decision.ts";
import type { BundleHeader } from "./header.ts";
import type { ActionOf, AnyText, KindOf, PolicyTypes, RegisteredTypes } from "./policy-types.ts";
import type {
  ActionRequest,
  AuxData,
  CheckedRequests,
  CheckRequest,
  Decisions,
  FilterRequest,
  Principal,
  RequestOfMany,
  Resource,
  ResourceOfKind,
  RowsRequest,
} from "./request-types.ts";
import type { SpocpRules } from "./spocp-types.ts";
import type { Address, ByteStream, FetchResponse } from "../base/web.ts";

/** A compiled set of policies, as `wardgate compile` writes it; it may be signed and sealed. */
export type Bundle = Uint8Array | ArrayBuffer;

/** A bundle or its source. Reading stops at the limit of `maxBytes`. */
export type BundleSource = Bundle | FetchResponse | PromiseLike<FetchResponse> | Address | ByteStream;

/**
 * An accessor module, as `wardgate compile --emit` writes it. Its contents are an internal format.
 */
export interface Accessors {
  /** The version of the format. */
  readonly format: number;
  /** The digest of the bundle that it was written for. */
  readonly bundle: string;
  /** The attribute names that it reads, in the order of their numbers. */
  readonly names: readonly string[];
  /** The hot function of `isAllowed`, with these names as literals. */
  readonly decideRequest: (...given: never) => unknown;
}

/** A kind of resource and an action, prepared once for many requests. */
export interface Target<P extends PolicyTypes = RegisteredTypes, K extends KindOf<P> = KindOf<P>> {
  /** The kind of the resources. */
  readonly kind: K;
  /** The action, such as `view`. */
  readonly action: ActionOf<P, K>;
  /** The policy version for resources without one. */
  readonly policyVersion?: P["resources"][K]["version"] | undefined;
  /** The scope for resources without one. */
  readonly scope?: P["resources"][K]["scope"] | AnyText | undefined;
}

/**
 * A principal that is prepared for many requests, with its state from the moment of preparation.
 */
export interface PreparedPrincipal<P extends PolicyTypes = RegisteredTypes> {
  /**
   * Returns true if the principal may perform the action on the resource.
   *
   * @example
   *     const ada = pdp.for({ id: "ada", roles: ["user"] });
   *     ada.isAllowed("view", { kind: "album", id: "a1" });
   */
  isAllowed<K extends KindOf<P>>(action: ActionOf<P, K>, resource: Resource<P, K>): boolean;
  /**
   * The same as `isAllowed`.
   *
   * @example
   *     ada.can("view", { kind: "album", id: "a1" });
   */
  can<K extends KindOf<P>>(action: ActionOf<P, K>, resource: Resource<P, K>): boolean;
  /**
   * Returns the resources on which the action is allowed, in their order.
   *
   * @example
   *     const visible = ada.filter("view", albums);
   */
  filter<R extends ResourceOfKind<KindOf<P>>>(action: ActionOf<P, R["kind"]>, resources: readonly (R & Resource<P, R["kind"]>)[]): R[];
  /**
   * Prepares requests of this principal for one kind and action.
   *
   * @example
   *     const mayView = ada.prepare({ kind: "album", action: "view" });
   */
  prepare<K extends KindOf<P>>(target: Target<P, K>): PreparedQuestion<P>;
}

/** A principal, a kind and an action. Resources of other kinds are decided too, but slower. */
export interface PreparedQuestion<P extends PolicyTypes = RegisteredTypes> {
  /**
   * Returns true if the action on the resource is allowed.
   *
   * @example
   *     mayView.isAllowed({ kind: "album", id: "a1" });
   */
  isAllowed<K extends KindOf<P>>(resource: Resource<P, K>): boolean;
  /**
   * Returns the resources on which the action is allowed, in their order.
   *
   * @example
   *     const visible = mayView.filter(albums);
   */
  filter<R extends ResourceOfKind<KindOf<P>>>(resources: readonly (R & Resource<P, R["kind"]>)[]): R[];
}

/** A kind and an action. Resources of other kinds are decided too, but slower. */
export interface PreparedAction<P extends PolicyTypes = RegisteredTypes> {
  /**
   * Returns true if the principal may perform the action on the resource.
   *
   * @example
   *     const mayView = pdp.prepare({ kind: "album", action: "view" });
   *     mayView.isAllowed(ada, { kind: "album", id: "a1" });
   */
  isAllowed<K extends KindOf<P>>(principal: Principal<P>, resource: Resource<P, K>, auxData?: AuxData): boolean;
  /**
   * Returns the resources on which the action is allowed, in their order.
   *
   * @example
   *     const visible = mayView.filter(ada, albums);
   */
  filter<R extends ResourceOfKind<KindOf<P>>>(principal: Principal<P>, resources: readonly (R & Resource<P, R["kind"]>)[], auxData?: AuxData): R[];
}

/**
 * The options of `reload` and `examine`. All other options stay as they were when the PDP was
 * opened.
 */
export interface ReloadOptions {
  /**
   * The lowest accepted revision. Default: 0. The one that was given to `open` applies too, and
   * with trusted keys the revision in use does.
   *
   * @example
   *     pdp.reload(bundle, { minRevision: 8 });
   */
  readonly minRevision?: number | undefined;
  /**
   * The time for which the dates of the bundle are checked. Default: the time of the clock.
   *
   * @example
   *     pdp.reload(bundle, { now: Date.UTC(2024, 4, 6) });
   */
  readonly now?: number | Date | undefined;
}

/**
 * An opened bundle that decides.
 *
 * Every method throws a `TypeError` for a value of the wrong kind, a `RangeError` for a value out
 * of range, and a `WardgateError` otherwise.
 *
 * The methods with a boolean answer read only the parts of a request on which the answer depends:
 * ids, roles, kind, scope and version of the resource, the action, and the attributes that the
 * rules about this kind and action read, or that its enforced schemas name. `check` reads the
 * attributes that any rule of the bundle reads, and all of them if a schema is enforced and a fast
 * path does not decide; `explain` reads everything. Both refuse a misspelt member of the request,
 * and an unreadable value among those that they read. The other methods refuse it only if they have
 * to read as much as `check`: if required attributes are absent, or if the request holds a value
 * outside of the fast path, such as a `Map`, a `Date`, an instance of a class, or more than 64 roles.
 *
 * Data that is prepared for many decisions is checked closely: `for` and every `filter` refuse
 * misspelt members of a principal, and `prepare` refuses those of a target.
 *
 * So beware of `policy_version` and the like in a resource, in code without type checks:
 * `isAllowed` and `filter` may read the resource as one without a version, and `check` refuses it.
 * Looking for such members would cost more than the decision. Members that `Object.keys` does not
 * list, which JSON cannot have, may be read by one method and not by another: do not hide
 * attributes that way.
 */
export interface Pdp<out P extends PolicyTypes = RegisteredTypes> {
  /**
   * Returns true if the principal may perform the action on the resource.
   *
   * @example
   *     const principal = { id: "ada", roles: ["user"] };
   *     pdp.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1" } });
   */
  isAllowed<K extends KindOf<P>>(request: ActionRequest<P, K>): boolean;
  /**
   * Returns the answers to several requests, each like `isAllowed`.
   *
   * @example
   *     const [mayView, mayEdit] = pdp.isAllowedMany([
   *       { principal, action: "view", resource },
   *       { principal, action: "edit", resource },
   *     ]);
   */
  isAllowedMany<K extends KindOf<P>>(requests: readonly ActionRequest<P, K>[]): boolean[];
  /**
   * Returns the resources on which the principal may perform the action, in their order.
   *
   * @example
   *     const visible = pdp.filter({ principal, action: "view", resources: albums });
   */
  filter<R extends ResourceOfKind<KindOf<P>>>(request: FilterRequest<R, P>): R[];
  /**
   * Returns the rows on whose resources the principal may perform the action, in their order.
   *
   * @example
   *     const resource = (row: AlbumRow) => ({ kind: "album", id: row.id, attr: row });
   *     const visible = pdp.filter({ principal, action: "view", rows, resource });
   */
  filter<T, K extends KindOf<P> = KindOf<P>>(request: RowsRequest<T, P, K>): T[];
  /**
   * Prepares a principal once for many requests. Later changes to the given object have no effect.
   * Lists and sets of more than 16 scalars among its attributes are hashed, so that a rule such as
   * `R.attr.team in P.attr.teams` does not scan them.
   *
   * @example
   *     const ada = pdp.for({ id: "ada", roles: ["user"] });
   *     ada.isAllowed("view", { kind: "album", id: "a1" });
   */
  for(principal: Principal<P>, auxData?: AuxData): PreparedPrincipal<P>;
  /**
   * Prepares a kind and an action once, for many principals.
   *
   * @example
   *     const mayView = pdp.prepare({ kind: "album", action: "view" });
   *     mayView.isAllowed(principal, { kind: "album", id: "a1" });
   */
  prepare<K extends KindOf<P>>(target: Target<P, K>): PreparedAction<P>;
  /**
   * Decides several actions, and returns the reason for each decision. The answer has the actions of
   * the request as its members, so that a misspelt one does not compile.
   *
   * @example
   *     const { actions } = pdp.check({ principal, resource, actions: ["view", "edit"] });
   *     console.log(actions.view.effect, actions.view.reason);
   */
  check<const A extends ActionOf<P, K>, K extends KindOf<P> = KindOf<P>>(request: CheckRequest<A, P, K>): Decision<A, P, K>;
  /**
   * Returns the actions of `actions(resource.kind)` that the principal may perform on the resource.
   * Actions that only a pattern such as `view:*` names are not among them.
   *
   * @example
   *     const buttons = pdp.allowedActions(principal, { kind: "album", id: "a1" });
   */
  allowedActions<K extends KindOf<P>>(principal: Principal<P>, resource: Resource<P, K>, auxData?: AuxData): ActionOf<P, K>[];
  /**
   * Decides several requests, each like `check`. With `maxSteps` all of them together take at most
   * that many steps. Consecutive requests with one principal object share it: it is read once.
   *
   * @example
   *     const decisions = pdp.checkMany([{ principal, resource, actions: ["view"] }]);
   */
  checkMany<const R extends readonly RequestOfMany<P>[]>(requests: CheckedRequests<R, P>, options?: CheckManyOptions): Decisions<R, P>;
  /**
   * Decides several actions, and returns the canonical bytes of the decision, equal on every host.
   *
   * @example
   *     const digest = hash(pdp.decisionBytes({ principal, resource, actions: ["view"] }));
   */
  decisionBytes<K extends KindOf<P>>(request: CheckRequest<ActionOf<P, K>, P, K>): Uint8Array;
  /**
   * Decides one action, and returns the considered rules with the outcome of each.
   *
   * @example
   *     const { steps } = pdp.explain({ principal, action: "edit", resource });
   *     for (const { file, line, outcome } of steps ?? []) console.log(`${file}:${line}`, outcome);
   */
  explain<K extends KindOf<P>>(request: ActionRequest<P, K>): Explanation;
  /**
   * Returns the actions that rules about resources of this kind name, in any version and scope,
   * sorted as text. Patterns such as `view:*` are left out.
   *
   * @example
   *     const actions = pdp.actions("album");
   */
  actions<K extends KindOf<P>>(kind: K): ActionOf<P, K>[];
  /** The rules of SPOCP in the bundle in use, if the option `spocp` was given. */
  readonly spocp: SpocpRules | undefined;
  /** The header of the bundle in use, with the names of its signers. */
  readonly header: BundleHeader;
  /**
   * Puts a new bundle into use, atomically. If it is refused, the bundle in use stays. A delta is
   * applied to the bundle in use first, and the result is opened like any other bundle.
   *
   * @throws WardgateError if the bundle or delta is refused, with a {@link Refusal} as its code.
   *
   * @example
   *     pdp.reload(await readFile("album.bundle"));
   */
  reload(bundle: Bundle, options?: ReloadOptions): void;
  /**
   * Checks a bundle or delta as `reload` does, and returns its header. The bundle in use stays. A
   * later `reload` may still refuse the bundle: its dates and the revision in use are checked
   * again.
   *
   * @throws WardgateError if the bundle or delta is refused, with a {@link Refusal} as its code.
   *
   * @example
   *     const { revision } = pdp.examine(await readFile("album.bundle"));
   */
  examine(bundle: Bundle, options?: ReloadOptions): BundleHeader;
  /**
   * Calls `listener` after each successful `reload`, and returns a function that removes it. An
   * exception of a listener is reported like one in an event listener, and stops neither the reload
   * nor the other listeners.
   *
   * @example
   *     const remove = pdp.onReload(({ revision }) => console.log("revision", revision));
   */
  onReload(listener: (header: BundleHeader) => void): () => void;
  /**
   * Frees the memory of the PDP. A later call of another method throws; a second `dispose` does
   * not.
   *
   * @example
   *     pdp.dispose();
   */
  dispose(): void;
  /**
   * The same as `dispose`, for `using`.
   *
   * @example
   *     using pdp = openSync(bundle, { trust });
   */
  [Symbol.dispose](): void;
}

/** A PDP that was opened with the option `spocp`. */
export interface SpocpPdp<P extends PolicyTypes = RegisteredTypes> extends Pdp<P> {
  /** The rules of SPOCP in the bundle in use. */
  readonly spocp: SpocpRules;
}
