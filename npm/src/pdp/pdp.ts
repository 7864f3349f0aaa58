// The PDP of a caller: one bundle, with its handle in the module.

import {
  actions, apply, check, checkText, checkWithin, close, explain, header, isAllowed, isDelta, open, planKinds, principals, readNames, reload, rulesAt,
  sourceOf, textOf, unseal, type Budget,
} from "../wasm/abi.ts";
import { answerOf, type DecisionData } from "./answer.ts";
import type { AcceptedBundle, AcceptedOpening } from "./accepted-bundle.ts";
import { filterRows, type Engine } from "../fast/batch.ts";
import { checkFast } from "./check-fast.ts";
import { readCheckMany, type CheckManyOptions } from "./check-many.ts";
import { metOf } from "./coded-charges.ts";
import { decisionOf, TableTexts } from "./coded-decision.ts";
import type { Decision, Explanation } from "./decision.ts";
import { presentBundle } from "./bundle-bytes.ts";
import { describe } from "../base/describe.ts";
import { decideRequest } from "../fast/generated/encode-request.ts";
import { WardgateError } from "../base/errors.ts";
import { ALLOW, UNSURE } from "../wasm/frame.ts";
import { readHeader, type BundleHeader } from "./header.ts";
import { warnOfGetters } from "./getters.ts";
import { readReload, type Settings } from "./options.ts";
import type { RegisteredTypes } from "./policy-types.ts";
import { FAST_PATHS } from "./recording.ts";
import { FastPaths } from "../fast/fast-paths.ts";
import type { KindNumbers } from "../fast/kinds.ts";
import { ActionQueries, PrincipalQueries } from "./prepared.ts";
import { METERED, METERING, NEEDS_LIMITER, type Metered, type MeteredSharer } from "../base/metered.ts";
import { callListener } from "../base/report.ts";
import { copyOfList, readFilter, type ReadFilter } from "./read-lists.ts";
import type { Runtime } from "../wasm/runtime.ts";
import { consecutive, SHARING, sharerWord, type Sharer } from "./sharing.ts";
import type { RuleSet, RuleReader, SpocpRules } from "./spocp-types.ts";
import { callState } from "../wasm/reentrancy.ts";
import { ALL_NAMES, readRequest, type Message, type ReadNames } from "../wasm/request.ts";
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
  RowsRequest,
} from "./request-types.ts";
import type { Accessors, Bundle, Pdp, PreparedAction, PreparedPrincipal, ReloadOptions, Target } from "./types.ts";
import { PrincipalRecord } from "../fast/prepared-requests.ts";

/**
 * The state of a PDP in the module. It outlives the PDP, so that the finalizer below can free it.
 */
interface Lease {
  readonly runtime: Runtime;
  handle: number;
  generation: number;
}

export class OpenedPdp implements Pdp {
  readonly #settings: Settings;
  readonly #lease: Lease;
  readonly #fastPaths: FastPaths;
  readonly #decide: typeof decideRequest;
  readonly #engine: Engine;
  /** The rules of SPOCP in the bundle in use, if the option `spocp` was given. */
  readonly #rules: RuleSet | undefined;
  #accepted: AcceptedBundle;
  #header: BundleHeader;
  /** The attributes that the policies read, once a request was read. */
  #names: ReadNames | undefined;
  #texts = new TableTexts((id) => textOf(this.#lease.handle, id));
  #disposed = false;
  readonly #listeners = new Set<(header: BundleHeader) => void>();

  /** Opens bytes that no other code writes into: they stay the last good bundle. */
  constructor(runtime: Runtime, given: Uint8Array, settings: Settings, readRules?: RuleReader) {
    this.#settings = settings;
    const { accessors, terms, minRevision, enforcesLimits } = settings;
    const now = settings.now ?? settings.clock();
    const [accepted, handle] = runtime.call(() => {
      const bytes = unsealed(given, settings);
      return [{ bytes, now, minRevision }, open(bytes, terms, now, minRevision)] as const;
    });
    this.#accepted = accepted;
    this.#lease = { runtime, handle, generation: runtime.generation };
    net?.register(this, this.#lease, this.#lease);
    const decide = (accessors?.decideRequest as typeof decideRequest | undefined) ?? decideRequest;
    this.#fastPaths = new FastPaths(runtime, settings.clock, accessors?.names);
    this.#engine = {
      fastPaths: this.#fastPaths,
      general: (request) => this.#general(request),
      failure: (thrown) => runtime.failure(thrown),
    };
    this.#header = this.#begin(this.#call(bundleFacts));
    this.#fastPaths.preload();
    // The engine compiles a function on its first call. This request has no member that it could
    // learn from.
    decide(this.#fastPaths, undefined);
    this.#decide = enforcesLimits ? refuse : decide;
    if (readRules !== undefined) this.#rules = this.#firstRules(readRules);
    if (accessors !== undefined) this.#mustFit(accessors);
  }

  get header(): BundleHeader {
    return this.#header;
  }

  get spocp(): SpocpRules | undefined {
    return this.#rules;
  }

  /** The bundle in use, with the conditions and options to open or reload it elsewhere. */
  get accepted(): AcceptedOpening {
    const { terms, isUnsigned, decidesAfterExpiry, enforcesLimits, maxBytes } = this.#settings;
    return { ...this.#accepted, terms, isUnsigned, decidesAfterExpiry, enforcesLimits, maxBytes };
  }

  get [FAST_PATHS](): FastPaths {
    return this.#fastPaths;
  }

  /** Returns the time of the clock. */
  now(): number {
    return this.#settings.clock();
  }

  isAllowed(request: ActionRequest): boolean {
    const answer = this.fast(request);
    return answer === UNSURE ? this.#general(request) : answer === ALLOW;
  }

  /** Decides on the fast path, and leaves in the frame what it read; `UNSURE` if the general path must decide. */
  protected fast(request: ActionRequest): number {
    try {
      const answer = this.#decide(this.#fastPaths, request);
      return answer === UNSURE && this.#fastPaths.refresh() ? this.#decide(this.#fastPaths, request) : answer;
    } catch (thrown) {
      throw this.#lease.runtime.failure(thrown);
    }
  }

  isAllowedMany(requests: readonly ActionRequest[]): boolean[] {
    this.#mayDecide();
    return copyOfList(requests).map((request) => this.isAllowed(request));
  }

  filter<R extends Resource>(request: FilterRequest<R>): R[];
  filter<T>(request: RowsRequest<T>): T[];
  filter<T>(request: FilterRequest<T & Resource> | RowsRequest<T>): T[] {
    this.#mayDecide();
    return this.filterRead(readFilter(request));
  }

  /** Decides on the resources of a request that was read, and returns what it asks for. */
  protected filterRead<T>({ principal, action, resources, rows, auxData }: ReadFilter<T>): T[] {
    // The resources of rows may have been made by code that disposed of this PDP.
    this.#mustBeOpen();
    return filterRows(this.#engine, { record: new PrincipalRecord(principal), action, auxData }, resources, rows?.slice());
  }

  for(principal: Principal, auxData?: AuxData): PreparedPrincipal {
    this.#mayDecide();
    return new PrincipalQueries(this.#engine, principal, auxData);
  }

  prepare(target: Target): PreparedAction {
    this.#mayDecide();
    return new ActionQueries(this.#engine, target);
  }

  checkMany<const R extends readonly RequestOfMany[]>(requests: CheckedRequests<R, RegisteredTypes>, options?: CheckManyOptions): Decisions<R> {
    this.#mayDecide();
    const steps = readCheckMany(options);
    const budget = steps === undefined ? undefined : { left: steps };
    const shared = consecutive();
    const decisions = copyOfList(requests as readonly CheckRequest[]).map((request) => {
      // A budget counts the steps of the general path.
      const decision = budget === undefined ? this.#checkFast(request) : null;
      return decision ?? this.#check(...shared(request), budget);
    });
    return decisions as Decisions<R>;
  }

  check<const A extends string>(request: CheckRequest<A>): Decision<A> {
    if (this.#settings.enforcesLimits) throw ofLimiter();
    return (this.#checkFast(request) ?? this.#check(request, 0)) as Decision<A>;
  }

  allowedActions(principal: Principal, resource: Resource, auxData?: AuxData): string[] {
    const actions = this.actions(resource?.kind);
    return this.check({ principal, resource, actions, ...(auxData === undefined ? {} : { auxData }) }).allowedActions();
  }

  decisionBytes(request: CheckRequest): Uint8Array {
    if (this.#settings.enforcesLimits) throw ofLimiter();
    return new TextEncoder().encode(this.#checkText(request, 0));
  }

  explain(request: ActionRequest): Explanation {
    const now = this.#settings.clock();
    const text = this.#call((handle) => explain(handle, this.#checked(readRequest(request, "action", ALL_NAMES)), now));
    warnOfGetters(request, text);
    const { decision, ...rest } = JSON.parse(text) as Explanation;
    return { decision: answerOf(decision), ...rest };
  }

  examine(bundle: Bundle, options?: ReloadOptions): BundleHeader {
    const offer = this.#read(bundle, options);
    const facts = this.#call((handle) => {
      const whole = this.#whole(handle, offer);
      const other = open(whole.bytes, this.#settings.terms, whole.now, whole.minRevision);
      try {
        this.#rules?.offer(rulesIn(whole, other));
        return header(other);
      } finally {
        close(other);
      }
    });
    return readHeader(facts);
  }

  actions(kind: string): string[] {
    if (typeof kind !== "string") throw new TypeError(`a kind must be a string, found ${describe(kind)}`);
    return JSON.parse(this.#call((handle) => actions(handle, kind))) as string[];
  }

  reload(bundle: Bundle, options?: ReloadOptions): void {
    const offer = this.#read(bundle, options);
    const [accepted, facts, use] = this.#call((handle) => {
      const whole = this.#whole(handle, offer);
      return [whole, ...this.#exchange(handle, whole)] as const;
    });
    this.#accepted = accepted;
    use?.();
    this.#header = this.#begin(facts);
    for (const listener of [...this.#listeners]) callListener(listener, this.#header);
  }

  onReload(listener: (header: BundleHeader) => void): () => void {
    this.#mustBeOpen();
    if (typeof listener !== "function") throw new TypeError(`a listener must be a function, found ${describe(listener)}`);
    // A new function for each call: a listener that is added twice is removed twice.
    const own = (header: BundleHeader): void => listener(header);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#listeners.clear();
    this.#fastPaths.reset();
    net?.unregister(this.#lease);
    free(this.#lease);
    this.#rules?.dispose();
    this.#accepted = { ...this.#accepted, bytes: new Uint8Array() };
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  /** Checks a request on fast paths; `null` if the general path must decide. */
  #checkFast(request: unknown): Decision | null {
    try {
      const decision = checkFast(this.#fastPaths, request);
      if (decision !== null || !this.#fastPaths.refresh()) return decision;
      return checkFast(this.#fastPaths, request);
    } catch (thrown) {
      throw this.#lease.runtime.failure(thrown);
    }
  }

  /** Decides a request on the general path, which reads it completely. */
  #general(request: unknown): boolean {
    const now = this.#settings.clock();
    const answer = this.#call((handle) => isAllowed(handle, this.#message(handle, request, "action", 0), now));
    // The frame may have died since it was made: the memory grew, or the instance trapped.
    if (!this.#disposed && !this.#fastPaths.isLive) this.#fastPaths.resume(this.#lease.handle);
    return answer;
  }

  /** Reads a bundle for a reload, with the conditions that it must meet. */
  #read(bundle: unknown, options: unknown): AcceptedBundle {
    const bytes = presentBundle(bundle);
    const conditions = readReload(options);
    const now = conditions.now ?? this.#settings.clock();
    // A replayed older bundle is refused although the caller stores no revision. This is read after
    // the clock, which is code of the caller and may have reloaded a newer bundle.
    const inUse = this.#settings.isUnsigned ? 0 : this.#header.revision;
    return { bytes, now, minRevision: Math.max(this.#settings.minRevision, conditions.minRevision, inUse) };
  }

  /** Returns the whole bundle: unsealed, and with a delta applied to the bundle in use. */
  #whole(handle: number, offer: AcceptedBundle): AcceptedBundle {
    const inside = unsealed(offer.bytes, this.#settings);
    const isStep = isDelta(inside.subarray(0, PREFIX_BYTES));
    return { ...offer, bytes: isStep ? apply(handle, this.#accepted.bytes, inside) : inside };
  }

  /**
   * Reloads the policies, and returns a function that replaces the rules beside them. It replaces
   * both or none.
   */
  #exchange(handle: number, whole: AcceptedBundle): readonly [BundleFacts, (() => void) | undefined] {
    reload(handle, whole.bytes, whole.now, whole.minRevision);
    let use;
    try {
      use = this.#rules?.offer(rulesIn(whole, handle));
    } catch (refused) {
      // No code of the caller has run in the meantime.
      const { bytes, now, minRevision } = this.#accepted;
      reload(handle, bytes, now, minRevision);
      throw refused;
    }
    return [bundleFacts(handle), use];
  }

  #firstRules(read: RuleReader): RuleSet {
    try {
      return read(this.#call((handle) => rulesIn(this.#accepted, handle)), () => this.#fastPaths.isExpired());
    } catch (refused) {
      this.dispose();
      throw refused;
    }
  }

  #begin({ principals, header, kinds }: BundleFacts): BundleHeader {
    const read = readHeader(header);
    this.#names = undefined;
    this.#texts = new TableTexts((id) => textOf(this.#lease.handle, id));
    const expires = this.#settings.decidesAfterExpiry ? undefined : read.expires;
    this.#fastPaths.begin(JSON.parse(principals) as string[], expires, JSON.parse(kinds) as KindNumbers);
    this.#fastPaths.resume(this.#lease.handle);
    return read;
  }

  get [NEEDS_LIMITER](): boolean {
    return this.#settings.enforcesLimits;
  }

  /** Returns a decision and the limits that its actions meet, which the caller charges. */
  [METERED](request: CheckRequest): Metered<Decision> {
    return this.#metered(request, 0);
  }

  [METERING](steps: number): MeteredSharer<Decision> {
    const [word, budget] = [sharerWord(), { left: steps }];
    return {
      check: (request, shared) => this.#metered(request as CheckRequest, word(shared), budget),
      left: () => budget.left,
    };
  }

  #metered(request: CheckRequest, shared: number, budget?: Budget): Metered<Decision> {
    if (!this.#settings.enforcesLimits) throw new TypeError("a limiter needs a PDP that was opened with the option `limits: true`");
    const now = this.#settings.clock();
    return this.#call((handle) => {
      const message = this.#message(handle, request, "actions", shared, budget);
      const answer = budget === undefined ? check(handle, message, now, shared) : checkWithin(handle, message, now, shared, budget);
      const decision = decisionOf(answer, message, this.#texts);
      return { decision, actions: metOf(answer, message, this.#texts, (program) => sourceOf(handle, program)) };
    });
  }

  [SHARING](steps: number): Sharer {
    if (this.#settings.enforcesLimits) throw ofLimiter();
    const [word, budget] = [sharerWord(), { left: steps }];
    return {
      check: (request, shared) => this.#check(request, word(shared), budget),
      left: () => budget.left,
    };
  }

  #check(request: CheckRequest, shared: number, budget?: Budget): Decision {
    if (budget !== undefined) return answerOf(JSON.parse(this.#checkText(request, shared, budget)) as DecisionData);
    const now = this.#settings.clock();
    return this.#call((handle) => {
      const message = this.#message(handle, request, "actions", shared);
      return decisionOf(check(handle, message, now, shared), message, this.#texts);
    });
  }

  #checkText(request: CheckRequest, shared: number, budget?: Budget): string {
    const now = this.#settings.clock();
    const text = this.#call((handle) => {
      // Reading takes steps of the budget, so the policies do not determine how much is read.
      const message = this.#checked(readRequest(request, "actions", ALL_NAMES, { shared, budget }));
      return checkText(handle, message, now, shared, budget);
    });
    // A decision may be long, and writing it takes time too.
    if (budget !== undefined) budget.left = Math.max(0, budget.left - Math.ceil(text.length / UNITS_OF_A_STEP));
    return text;
  }

  /** Reads the parts of a request that the policies read. */
  #message(handle: number, request: unknown, field: "action" | "actions", shared: number, budget?: Budget): Message {
    const names = (this.#names ??= JSON.parse(readNames(handle)) as ReadNames);
    const message = this.#checked(readRequest(request, field, names, { shared, budget }));
    // Code of the caller may have reloaded a bundle whose policies read more.
    return this.#names === names ? message : this.#checked(readRequest(request, field, ALL_NAMES, { shared, budget }));
  }

  /** Returns a message, unless code of the caller has ended the PDP or the instance while it was read. */
  #checked(message: Message): Message {
    this.#mustBeOpen();
    this.#lease.runtime.mustBeIntact();
    return message;
  }

  /**
   * Refuses accessors of another bundle: they would work, but slower than their owner expects. It
   * also refuses accessors that import another copy of the package, whose serials are not the
   * serials of this one.
   */
  #mustFit({ bundle, decideRequest }: Accessors): void {
    const { content } = this.#header;
    const { serial } = callState;
    // It takes a serial before it sees that this is not a request.
    (decideRequest as (...given: unknown[]) => unknown)(undefined, undefined);
    if (bundle === content && callState.serial !== serial) return;
    this.dispose();
    const found =
      bundle === content
        ? "the accessors import another copy of the package"
        : `the accessors were emitted for another bundle: expected ${content}, found ${bundle}`;
    throw new WardgateError("accessors", found);
  }

  #mayDecide(): void {
    this.#mustBeOpen();
    if (this.#settings.enforcesLimits) throw ofLimiter();
  }

  #mustBeOpen(): void {
    if (this.#disposed) throw new WardgateError("disposed", "this PDP is disposed");
  }

  #call<T>(work: (handle: number) => T): T {
    this.#mustBeOpen();
    return this.#lease.runtime.call(() => work(this.#handle()));
  }

  /** Returns the handle in the instance in use, which may have been replaced after a trap. */
  #handle(): number {
    const lease = this.#lease;
    if (lease.generation !== lease.runtime.generation) {
      const { bytes, now, minRevision } = this.#accepted;
      lease.handle = open(bytes, this.#settings.terms, now, minRevision);
      lease.generation = lease.runtime.generation;
    }
    return lease.handle;
  }
}

// Only a safety net: the memory of the module is freed by `dispose`, or some time after the PDP
// becomes unreachable. Workers with a compatibility date before May 2025 lack this class.
const net = "FinalizationRegistry" in globalThis ? new FinalizationRegistry<Lease>(free) : undefined;

function free(lease: Lease): void {
  lease.runtime.call(() => {
    if (lease.generation === lease.runtime.generation) close(lease.handle);
  });
}

/** Refuses to decide without a limiter. */
function refuse(): never {
  throw ofLimiter();
}

function ofLimiter(): WardgateError {
  return new WardgateError("limits", "this PDP was opened with `limits: true`: only a limiter of `wardgate/ratelimit` decides with it");
}

/** The facts about an opened bundle from the module, as JSON. */
interface BundleFacts {
  readonly principals: string;
  readonly kinds: string;
  readonly header: string;
}

function bundleFacts(handle: number): BundleFacts {
  return { principals: principals(handle), header: header(handle), kinds: planKinds(handle) };
}

/**
 * Returns the rules of SPOCP in a bundle that the module has opened. No code writes into these
 * bytes.
 */
function rulesIn({ bytes }: AcceptedBundle, handle: number): Uint8Array {
  return bytes.subarray(rulesAt(handle));
}

/** Returns the content of a bundle, which must be sealed if there is a key. */
function unsealed(given: Uint8Array, { unsealKey, maxBytes }: Settings): Uint8Array {
  return unsealKey === undefined ? given : unseal(given, unsealKey, maxBytes);
}

/** The code units of a decision that are written and parsed in the time of a step. */
const UNITS_OF_A_STEP = 4;

/** The number of bytes that determine the kind of a bundle. */
const PREFIX_BYTES = 32;
