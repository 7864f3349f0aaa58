// A PDP whose decisions are recorded, or told to a listener.
//
// A class of its own, so that a PDP without a log pays nothing. It decides first, as every PDP, and then reads
// ids and names of the request again. No listener changes a decision; a log without room denies, if its
// owner wants so. `explain` is recorded nowhere.

import { METERED, METERING, type Metered, type MeteredSharer } from "../base/metered.ts";
import { callListener } from "../base/report.ts";
import { snapshot } from "../base/snapshot.ts";
import { ALLOW, UNSURE } from "../wasm/frame.ts";
import type { Runtime } from "../wasm/runtime.ts";
import { answerOf, type DecisionData } from "./answer.ts";
import type { CheckManyOptions } from "./check-many.ts";
import type { ActionDecision, Decision } from "./decision.ts";
import { EvidenceSource, type WholeEvidence } from "./evidence-source.ts";
import type { Settings } from "./options.ts";
import { OpenedPdp } from "./pdp.ts";
import type { RegisteredTypes } from "./policy-types.ts";
import { ALLOWED, CONTINUES, FAST_PATHS, LIMITED, TIMING, WRITER, type DecisionListener, type DecisionTiming, type DecisionWriter } from "./recording.ts";
import type { ReadFilter } from "./read-lists.ts";
import { SHARING, type Sharer } from "./sharing.ts";
import type { RuleReader } from "./spocp-types.ts";
import type { ActionRequest, AuxData, CheckedRequests, CheckRequest, Decisions, Principal, RequestOfMany, Resource } from "./request-types.ts";
import type { Bundle, PreparedAction, PreparedPrincipal, PreparedQuestion, ReloadOptions, Target } from "./types.ts";

export class RecordedPdp extends OpenedPdp {
  readonly #recording: Recording;

  constructor(runtime: Runtime, given: Uint8Array, settings: Settings, readRules?: RuleReader) {
    const writer = settings.log?.[WRITER](settings.clock);
    // A decision with evidence reads the time that its record has.
    super(runtime, given, writer?.hasEvidence === true ? { ...settings, clock: () => writer.time() } : settings, readRules);
    const evidence = writer?.hasEvidence !== true ? undefined : new EvidenceSource(writer, this[FAST_PATHS], settings.enforcesLimits ? undefined : (request) => this.fast(request));
    this.#recording = new Recording(writer, settings.onDecision, evidence, () => this.header.revision);
    writer?.begin(this.header);
  }

  override isAllowed(request: ActionRequest): boolean {
    this.#recording.begin();
    const answer = this.#recording.evidence?.fast?.(request) ?? UNSURE;
    const isAllowed = answer === UNSURE ? super.isAllowed(request) : answer === ALLOW;
    const { principal, resource, action, requestId } = request;
    return this.#recording.one(principal.id, resource, resource.policyVersion, resource.scope, action, requestId, isAllowed, request, answer !== UNSURE);
  }

  protected override filterRead<T>(request: ReadFilter<T>): T[] {
    this.#recording.begin();
    const { principal, action, rows } = request;
    const asked = copyOf(request.resources);
    const allowed = super.filterRead(request);
    return this.#recording.found(principal.id, action, NO_TARGET, asked, allowed, rows);
  }

  override for(principal: Principal, auxData?: AuxData): PreparedPrincipal {
    const prepared = super.for(principal, auxData);
    const isCopied = this.#recording.evidence !== undefined;
    const asker = isCopied ? { principal: snapshot(principal) as Principal, auxData: snapshot(auxData) as AuxData | undefined } : { principal, auxData };
    return new RecordedPrincipal(prepared, asker, this.#recording);
  }

  override prepare(target: Target): PreparedAction {
    const prepared = super.prepare(target);
    return new RecordedAction(prepared, { ...target }, this.#recording);
  }

  override check<const A extends string>(request: CheckRequest<A>): Decision<A> {
    this.#recording.begin();
    return this.#recording.several(request, super.check(request)) as Decision<A>;
  }

  override checkMany<const R extends readonly RequestOfMany[]>(requests: CheckedRequests<R, RegisteredTypes>, options?: CheckManyOptions): Decisions<R> {
    this.#recording.begin();
    const decisions: readonly Decision[] = super.checkMany<R>(requests, options);
    return this.#recording.many(requests as readonly CheckRequest[], decisions) as Decisions<R>;
  }

  override decisionBytes(request: CheckRequest): Uint8Array {
    this.#recording.begin();
    const bytes = super.decisionBytes(request);
    const decision = answerOf(JSON.parse(new TextDecoder().decode(bytes)) as DecisionData);
    const recorded = this.#recording.several(request, decision);
    return recorded === decision ? bytes : new TextEncoder().encode(JSON.stringify(recorded));
  }

  override reload(bundle: Bundle, options?: ReloadOptions): void {
    const before = this.header;
    try {
      super.reload(bundle, options);
    } finally {
      if (this.header !== before) this.#recording.writer?.begin(this.header);
    }
  }

  override [METERED](request: CheckRequest): Metered<Decision> {
    this.#recording.begin();
    return this.#recording.settling(request, super[METERED](request));
  }

  override [METERING](steps: number): MeteredSharer<Decision> {
    const sharer = super[METERING](steps);
    const check = (request: unknown, shared: number): Metered<Decision> => {
      this.#recording.begin();
      return this.#recording.settling(request as CheckRequest, sharer.check(request, shared));
    };
    return { check, left: () => sharer.left() };
  }

  override [SHARING](steps: number): Sharer {
    const sharer = super[SHARING](steps);
    const check = (request: CheckRequest, shared: number): Decision => {
      this.#recording.begin();
      return this.#recording.several(request, sharer.check(request, shared));
    };
    return { check, left: () => sharer.left() };
  }
}

/** Returns the outcome of a decision on an action. */
function outcomeOf({ effect, reason }: ActionDecision): number {
  if (effect === "allow") return ALLOWED;
  return OF_LIMITS.has(reason.kind) ? LIMITED : 0;
}

/** Records what was decided, and returns what is answered. */
class Recording {
  readonly writer: DecisionWriter | undefined;
  readonly evidence: EvidenceSource | undefined;
  readonly #listener: DecisionListener | undefined;
  readonly #timing: DecisionTiming | undefined;
  readonly #revision: () => number;
  #begun = 0;

  constructor(writer: DecisionWriter | undefined, listener: DecisionListener | undefined, evidence: EvidenceSource | undefined, revision: () => number) {
    this.writer = writer;
    this.evidence = evidence;
    this.#listener = listener;
    this.#timing = (listener as { readonly [TIMING]?: DecisionTiming } | undefined)?.[TIMING];
    this.#revision = revision;
  }

  /** Begins a decision. */
  begin(): void {
    this.evidence?.begin();
    if (this.#timing !== undefined) this.#begun = this.#timing.begin();
  }

  /** Returns a request of which parts are prepared, if decisions have evidence. */
  asked(principal: Principal, action: string, resource: Resource, auxData: AuxData | undefined, target: Pick<Target, "policyVersion" | "scope"> = NO_TARGET): ActionRequest | undefined {
    if (this.evidence === undefined) return undefined;
    const { policyVersion = target.policyVersion, scope = target.scope } = resource;
    const isPlaced = policyVersion !== resource.policyVersion || scope !== resource.scope;
    return { principal, action, resource: isPlaced ? { ...resource, policyVersion, scope } : resource, auxData };
  }

  /** Records the decision on one action. `isInFrame` says that the frame has what its fast path read. */
  one(
    principalId: string, resource: Resource, version: string | undefined, scope: string | undefined, action: string, requestId: string | undefined,
    isAllowed: boolean, request: ActionRequest | undefined, isInFrame = false,
  ): boolean {
    const { writer } = this;
    let answer = isAllowed;
    if (writer !== undefined) {
      const mayAnswer = writer.reserve(1);
      if (mayAnswer && request !== undefined) this.evidence?.one(request, isAllowed, isInFrame);
      if (mayAnswer) writer.put(resource.kind, version, scope, action, resource.id, principalId, requestId, isAllowed ? ALLOWED : 0);
      else answer = false;
    }
    if (this.#listener !== undefined) this.#tell(principalId, resource, action, requestId, answer);
    this.#end(1);
    return answer;
  }

  /** Records the decision on several actions. */
  several(request: CheckRequest, decision: Decision, whole?: WholeEvidence): Decision {
    const answer = this.#several(request, decision, whole);
    this.#end(1);
    return answer;
  }

  /** Records decisions that were made together. */
  many(requests: readonly CheckRequest[], decisions: readonly Decision[]): readonly Decision[] {
    const answers = decisions.map((decision, at) => this.#several(requests[at]!, decision));
    this.#end(answers.length);
    return answers;
  }

  #several(request: CheckRequest, decision: Decision, whole?: WholeEvidence): Decision {
    const { principal: { id }, resource, requestId } = request;
    const actions = Object.entries(decision.actions);
    const { writer } = this;
    const mayAnswer = writer === undefined || actions.length === 0 || writer.reserve(actions.length);
    if (writer !== undefined && mayAnswer) {
      const write = this.evidence?.several(request, decision, whole);
      actions.forEach(([action, decided], at) => {
        const outcome = outcomeOf(decided) | (at % MAX_OUTCOMES === 0 ? 0 : CONTINUES);
        write?.(action, (outcome & (ALLOWED | LIMITED)) !== 0, at % MAX_OUTCOMES === 0);
        writer.put(resource.kind, resource.policyVersion, resource.scope, action, resource.id, id, requestId, outcome);
      });
    }
    const answer = mayAnswer ? decision : denied(decision);
    if (this.#listener !== undefined) {
      for (const [action, { effect }] of Object.entries(answer.actions)) this.#tell(id, resource, action, requestId, effect === "allow");
    }
    return answer;
  }

  /** Records a decision when the limiter has charged it. */
  settling(request: CheckRequest, metered: Metered<Decision>): Metered<Decision> {
    const whole = this.evidence?.whole(request, metered.decision);
    const begun = this.#begun;
    const settle = (decision: Decision): Decision => {
      this.#begun = begun;
      return this.several(request, decision, whole);
    };
    return { ...metered, settle };
  }

  /**
   * Records which of some resources are allowed, for each run of one kind, version and scope. What is
   * allowed is part of `rows`, which has a value for each resource; by default the resource itself.
   */
  found<R extends Resource, T = R>(
    principalId: string, action: string, target: Pick<Target, "policyVersion" | "scope">, asked: readonly R[], allowed: T[], rows: readonly unknown[] = asked,
  ): T[] {
    let mayAnswer = true;
    let next = 0;
    for (let from = 0; from < asked.length; ) {
      const { kind, policyVersion = target.policyVersion, scope = target.scope } = asked[from]!;
      const first = next;
      let at = from;
      for (; at < asked.length; at += 1) {
        const { kind: other, policyVersion: version = target.policyVersion, scope: place = target.scope } = asked[at]!;
        if (other !== kind || version !== policyVersion || place !== scope) break;
        if (next < allowed.length && allowed[next] === rows[at]) next += 1;
      }
      const [count, granted] = [at - from, next - first];
      if (this.writer !== undefined) {
        if (this.writer.reserve(1)) this.writer.search(kind, policyVersion, scope, action, count, granted);
        else mayAnswer = false;
      }
      if (this.#listener !== undefined) {
        callListener(this.#listener, { kind: "search", principalId, resourceKind: kind, action, asked: count, allowed: granted });
      }
      from = at;
    }
    this.#end(asked.length);
    return mayAnswer ? allowed : [];
  }

  #end(resources: number): void {
    if (this.#timing !== undefined) callListener((timing) => timing.end(this.#begun, resources, this.#revision()), this.#timing);
  }

  #tell(principalId: string, { kind: resourceKind, id: resourceId }: Resource, action: string, requestId: string | undefined, isAllowed: boolean): void {
    const effect = isAllowed ? "allow" : "deny";
    callListener(this.#listener!, { kind: "action", principalId, resourceKind, resourceId, action, effect, requestId });
  }
}

/** A principal and its claims, for evidence: as they were when it was prepared. */
interface Asker {
  readonly principal: Principal;
  readonly auxData: AuxData | undefined;
}

/** The requests of one principal. It offers no fast path whose answers are kept: each of them is recorded. */
class RecordedPrincipal implements PreparedPrincipal {
  readonly #inner: PreparedPrincipal;
  readonly #asker: Asker;
  readonly #id: string;
  readonly #recording: Recording;

  constructor(inner: PreparedPrincipal, asker: Asker, recording: Recording) {
    this.#inner = inner;
    this.#asker = asker;
    this.#id = asker.principal.id;
    this.#recording = recording;
  }

  isAllowed(action: string, resource: Resource): boolean {
    this.#recording.begin();
    const isAllowed = this.#inner.isAllowed(action, resource);
    const { principal, auxData } = this.#asker;
    const request = this.#recording.asked(principal, action, resource, auxData);
    return this.#recording.one(this.#id, resource, resource.policyVersion, resource.scope, action, undefined, isAllowed, request);
  }

  can(action: string, resource: Resource): boolean {
    return this.isAllowed(action, resource);
  }

  filter<R extends Resource>(action: string, resources: readonly R[]): R[] {
    this.#recording.begin();
    const asked = copyOf(resources);
    return this.#recording.found(this.#id, action, NO_TARGET, asked, this.#inner.filter(action, resources));
  }

  prepare(target: Target): PreparedQuestion {
    return new RecordedQuestion(this.#inner.prepare(target), this.#asker, { ...target }, this.#recording);
  }
}

/** The requests of one principal for one kind and action. */
class RecordedQuestion implements PreparedQuestion {
  readonly #inner: PreparedQuestion;
  readonly #asker: Asker;
  readonly #id: string;
  readonly #target: Target;
  readonly #recording: Recording;

  constructor(inner: PreparedQuestion, asker: Asker, target: Target, recording: Recording) {
    this.#inner = inner;
    this.#asker = asker;
    this.#id = asker.principal.id;
    this.#target = target;
    this.#recording = recording;
  }

  isAllowed(resource: Resource): boolean {
    this.#recording.begin();
    const isAllowed = this.#inner.isAllowed(resource);
    const { policyVersion, scope, action } = this.#target;
    const request = this.#recording.asked(this.#asker.principal, action, resource, this.#asker.auxData, this.#target);
    return this.#recording.one(this.#id, resource, resource.policyVersion ?? policyVersion, resource.scope ?? scope, action, undefined, isAllowed, request);
  }

  filter<R extends Resource>(resources: readonly R[]): R[] {
    this.#recording.begin();
    const asked = copyOf(resources);
    return this.#recording.found(this.#id, this.#target.action, this.#target, asked, this.#inner.filter(resources));
  }
}

/** The requests for one kind and action. */
class RecordedAction implements PreparedAction {
  readonly #inner: PreparedAction;
  readonly #target: Target;
  readonly #recording: Recording;

  constructor(inner: PreparedAction, target: Target, recording: Recording) {
    this.#inner = inner;
    this.#target = target;
    this.#recording = recording;
  }

  isAllowed(principal: Principal, resource: Resource, auxData?: AuxData): boolean {
    this.#recording.begin();
    const isAllowed = this.#inner.isAllowed(principal, resource, auxData);
    const { policyVersion, scope, action } = this.#target;
    const request = this.#recording.asked(principal, action, resource, auxData, this.#target);
    return this.#recording.one(principal.id, resource, resource.policyVersion ?? policyVersion, resource.scope ?? scope, action, undefined, isAllowed, request);
  }

  filter<R extends Resource>(principal: Principal, resources: readonly R[], auxData?: AuxData): R[] {
    this.#recording.begin();
    const asked = copyOf(resources);
    const allowed = this.#inner.filter(principal, resources, auxData);
    return this.#recording.found(principal.id, this.#target.action, this.#target, asked, allowed);
  }
}

/** Returns a copy of a list, since code of the caller may change it in the meantime. What is no list is refused by who decides. */
function copyOf<R>(resources: readonly R[]): readonly R[] {
  return Array.isArray(resources) ? Array.from<R>(resources) : [];
}

/** Returns a decision that denies what there is no room to record. */
function denied(decision: Decision): Decision {
  const actions = Object.entries(decision.actions).map(([action, { policy, scope }]) => [action, { effect: "deny", policy, scope, reason: { kind: "log-full" } }] as const);
  const { effectiveDerivedRoles: _, outputs: __, ...rest } = decision;
  return answerOf({ ...rest, actions: Object.fromEntries(actions) });
}

/** The reasons of denials of what the policies allow. */
const OF_LIMITS: ReadonlySet<string> = new Set(["limited", "limit-error", "store-away"]);
const NO_TARGET = {};
/** The most actions of one record. */
const MAX_OUTCOMES = 255;
