// Rate limits of policies: a decision and the charge of its limits, in one call.
//
// Policies decide first, and limits only narrow. Of an action that they allow all limits are charged
// together or none; where one refuses, the action is denied. A limit whose expression fails denies as
// well. An action that they deny charges nothing, except limits with `charge: always`. Shadows are charged
// one by one after the others, and never deny. The actions of a request are charged one after the other.

import { describe } from "../base/describe.ts";
import { METERED, METERING, type LimitFacts, type Metered, type MeteredAction, type MeteredLimit, type MeteredSharer } from "../base/metered.ts";
import type { Demand } from "./demand.ts";
import { fields, problem, type Problem } from "./fields.ts";
import { checkKey } from "./key.ts";
import type { Leased } from "./leased.ts";
import type { Checked, Limiter, Standing } from "./limiter.ts";
import { MAX_KNOWN_RULES } from "./limits.ts";
import { Rule, whole } from "./rule.ts";

/** A limit of the policies that an action meets, and what became of it. */
export interface MetLimit extends Standing {
  /** The action that meets it. */
  readonly action: string;
  /** True if the limit never denies. */
  readonly isShadow: boolean;
  /** The tokens that the action takes. */
  readonly cost: number;
  /** True if the tokens were taken. */
  readonly charged: boolean;
  /** The error, in words, if the state is `failed`. */
  readonly message?: string;
}

/** A decision, narrowed by the limits that its actions meet. */
export interface Guarded<D> {
  /** True if every action of the request is allowed, and there is one. */
  readonly allowed: boolean;
  /** True if a limit denies since its store is away. */
  readonly unavailable: boolean;
  /** The decision. An action that a limit denies says so in its reason: `limited`, `limit-error` or `store-away`. */
  readonly decision: D;
  /** The limits that each action meets, in the order of the actions. */
  readonly limits: readonly MetLimit[];
  /** The fields of a response: see `fields`. */
  readonly headers: Record<string, string>;
  /** The problem to answer with where a limit denies: see `problem`. */
  readonly problem: Problem | undefined;
}

/** A request about several actions, or about one. */
export type GuardedRequest<R> = R | (Omit<R, "actions"> & { readonly action: string });

/** A PDP whose decisions charge the limits of its policies. */
export interface PolicyGuard<R, D> {
  /**
   * Decides every action of the request, and charges the limits that they meet.
   *
   * @throws what `check` of a PDP throws.
   */
  check(request: GuardedRequest<R>): Promise<Guarded<D>>;
  /**
   * Returns a guard for several requests, whose decisions together take at most so many steps. Actions beyond
   * them are denied.
   */
  within(maxSteps: number): SharingGuard<R, D>;
  /**
   * Ends the leases of this guard, and gives back those of GCRA. The guard can be used on.
   *
   * @throws Away if the store is away: then tokens are lost until their windows are over.
   */
  close(): Promise<void>;
}

/** A guard for several requests, one after another. */
export interface SharingGuard<R, D> {
  /**
   * Decides like `check` of a guard. `shared` has the bits of parts that are equal in all requests which share
   * them, 1 for the principal, 2 for the resource and 4 for `auxData`: they are read in the first of them.
   */
  check(request: GuardedRequest<R>, shared?: number): Promise<Guarded<D>>;
  /** Returns the number of remaining steps. */
  left(): number;
}

type Charged = Checked | Promise<Checked>;
/** Steps that wait for checks, some of which are there at once. */
type Steps<T> = Generator<Charged, T, Checked>;
type Mutable<T> = { -readonly [name in keyof T]: T[name] };

/** The places in which limits are charged, by their consistency. They are one if the store is in memory. */
type Places = { readonly [place in Place]: Limiter };
type Place = LimitFacts["consistency"];

/** An enforced limit with its demand. */
interface Entry {
  readonly met: Mutable<MetLimit>;
  readonly demand: Demand;
  readonly place: Place;
}

/** A charge that was done in one place, with the times before it: of the wall, and of the clock of the process. */
interface Charge {
  readonly place: Place;
  readonly group: readonly Entry[];
  readonly checked: Checked;
  readonly begun: number;
  readonly started: number;
}

interface MeteredPdp<D> {
  [METERED](request: unknown): Metered<D>;
  [METERING](steps: number): MeteredSharer<D>;
}

interface ActionDecision {
  effect: "allow" | "deny";
  reason: { readonly kind: string; readonly limit: string };
}

export class MeteringGuard<R, D> implements PolicyGuard<R, D> {
  readonly #pdp: MeteredPdp<D>;
  readonly #places: Places;
  /** The rules of limits by their names: most requests have the quota of the one before. */
  readonly #rules = new Map<string, Rule>();

  readonly #leases: Leased | undefined;

  constructor(pdp: object, places: Places, leases?: Leased) {
    if (typeof (pdp as { readonly [METERED]?: unknown })[METERED] !== "function") {
      throw new TypeError(`expected a PDP that \`open\` returned, found ${describe(pdp)}`);
    }
    this.#pdp = pdp as MeteredPdp<D>;
    this.#places = places;
    this.#leases = leases;
  }

  async check(request: GuardedRequest<R>): Promise<Guarded<D>> {
    return run(this.#all(this.#pdp[METERED](withActions(request))));
  }

  async close(): Promise<void> {
    await this.#leases?.close();
  }

  within(maxSteps: number): SharingGuard<R, D> {
    const sharer = this.#pdp[METERING](maxSteps);
    return {
      check: async (request, shared = 0) => {
        return run(this.#all(sharer.check(withActions(request), shared)));
      },
      left: () => sharer.left(),
    };
  }

  *#all({ decision, actions, settle }: Metered<D>): Steps<Guarded<D>> {
    const decided = (decision as { readonly actions: { readonly [action: string]: ActionDecision } }).actions;
    const limits: MetLimit[] = [];
    let allowed = actions.length > 0;
    let unavailable = false;
    for (const one of actions) {
      const action = decided[one.action]!;
      const isAllowed = action.effect === "allow";
      const reason = yield* this.#charge(one, isAllowed, limits);
      if (reason !== undefined && isAllowed) {
        [action.effect, action.reason] = ["deny", reason];
        unavailable ||= reason.kind === "store-away";
      }
      allowed &&= action.effect === "allow";
    }
    const answer = settle === undefined ? decision : settle(decision);
    // A decision log without room may deny.
    return new GuardedDecision(allowed && answer === decision, unavailable, answer, limits);
  }

  /** Charges the limits of an action, adds them to `limits`, and returns the reason for which they deny. */
  *#charge({ action, met }: MeteredAction, isAllowed: boolean, limits: MetLimit[]): Steps<ActionDecision["reason"] | undefined> {
    if (met === undefined) return { kind: "limit-error", limit: "" };
    if (met.length === 0) return undefined;
    const all = met.map((one) => this.#entry(action, one));
    limits.push(...all.map((one) => one.met));
    const enforced = all.filter((one) => !one.met.isShadow);
    let reason = reasonOf(enforced);
    if (reason === undefined && enforced.length > 0) {
      yield* this.#enforce(enforced as Entry[]);
      reason = reasonOf(enforced);
    }
    // An action that the policies deny meets only limits that always charge.
    const what = reason === undefined || !isAllowed ? "charge" : "look";
    for (const shadow of all) {
      if (!shadow.met.isShadow || shadow.demand === undefined) continue;
      note([shadow as Entry], yield this.#places[(shadow as Entry).place].settled(what, [shadow.demand]), what === "charge");
    }
    return reason;
  }

  /**
   * Charges all demands or none, place by place: first in the memory of the process, since it costs nothing to
   * ask. Where a place denies, those before it are refunded.
   */
  *#enforce(enforced: readonly Entry[]): Steps<void> {
    const [{ place: only } = { place: undefined }] = enforced;
    if (enforced.every(({ place }) => place === only)) {
      const checked = yield this.#places[only!].settled("charge", demandsOf(enforced));
      return note(enforced, checked, checked.allowed);
    }
    const charged: Charge[] = [];
    for (const place of PLACES) {
      const group = enforced.filter((entry) => entry.place === place);
      if (group.length === 0) continue;
      const [begun, started] = [Date.now(), performance.now()];
      const checked = yield this.#places[place].settled("charge", demandsOf(group));
      note(group, checked, checked.allowed);
      if (!checked.allowed) return yield* this.#refund(charged);
      charged.push({ place, group, checked, begun, started });
    }
  }

  /**
   * Returns the tokens of charges. Those of a window that may be over stay charged there: they are not of the next
   * one. Nor are those refunded that were charged without the store, in the share of the process.
   */
  *#refund(charged: readonly Charge[]): Steps<void> {
    for (const { place, group, checked, begun, started } of charged) {
      const micros = (performance.now() - started) * 1000;
      const isOpen = ({ demand: { rule } }: Entry, at: number): boolean =>
        place === "local" ? windowOf(rule, begun) === windowOf(rule, Date.now()) : checked.away === undefined && isBefore(rule, checked.limits[at]!, micros);
      const refunded = group.filter(isOpen);
      if (refunded.length > 0) note(refunded, yield this.#places[place].settled("refund", demandsOf(refunded)), false);
    }
  }

  #entry(action: string, { limit, charge }: MeteredLimit): { readonly met: Mutable<MetLimit>; readonly demand: Demand | undefined; readonly place: Place } {
    const { name, window, isShadow, failure } = limit;
    const place = this.#placeOf(limit);
    const failed = (message: string) => {
      const state = { admits: false, charged: false, remaining: 0, resetMs: 0, retryAfterMs: 0, state: "failed" as const, message };
      return { met: { action, name, key: [], quota: 0, burst: 0, window, isShadow, cost: 0, ...state }, demand: undefined, place };
    };
    if (charge.error !== undefined) return failed(charge.error);
    const { key, cost, quota } = charge;
    try {
      const rule = this.#rule(limit, quota);
      whole(cost, "cost");
      checkKey(key);
      const state = { admits: true, charged: false, remaining: 0, resetMs: 0, retryAfterMs: 0, state: "unasked" as const };
      const met = { action, name, key, quota, burst: rule.capacity, window, isShadow, cost, ...state };
      return { met, demand: { name, key, rule, cost, failure, isShadow }, place };
    } catch (error) {
      return failed((error as Error).message);
    }
  }

  #placeOf({ consistency }: LimitFacts): Place {
    if (this.#places.local === this.#places.exact) return "local";
    return consistency === "leased" && this.#leases === undefined ? "exact" : consistency;
  }

  #rule(limit: LimitFacts, quota: number): Rule {
    const known = this.#rules.get(limit.name);
    const terms = { algorithm: limit.algorithm, quota, window: limit.window, burst: limit.burst };
    if (known?.has(terms) === true) return known;
    const rule = new Rule(terms);
    if (this.#rules.size >= MAX_KNOWN_RULES) this.#rules.clear();
    this.#rules.set(limit.name, rule);
    return rule;
  }
}

class GuardedDecision<D> implements Guarded<D> {
  readonly allowed: boolean;
  readonly unavailable: boolean;
  readonly decision: D;
  readonly limits: readonly MetLimit[];

  constructor(allowed: boolean, unavailable: boolean, decision: D, limits: readonly MetLimit[]) {
    this.allowed = allowed;
    this.unavailable = unavailable;
    this.decision = decision;
    this.limits = limits;
  }

  get headers(): Record<string, string> {
    return fields(this);
  }

  get problem(): Problem | undefined {
    return this.allowed ? undefined : problem(this);
  }
}

/** Runs steps, and waits only for checks that are not there. */
function run<T>(steps: Steps<T>): T | Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    const { value } = step;
    if (value instanceof Promise) return rest(steps, value);
    step = steps.next(value);
  }
  return step.value;
}

async function rest<T>(steps: Steps<T>, first: Promise<Checked>): Promise<T> {
  let step = steps.next(await first);
  while (step.done !== true) step = steps.next(await step.value);
  return step.value;
}

/** Notes what became of limits; `isDone` says if a charge of those that admit was done. */
function note(group: readonly Entry[], { limits }: Checked, isDone: boolean): void {
  group.forEach(({ met }, at) => {
    const { admits, remaining, resetMs, retryAfterMs, state } = limits[at]!;
    const charged = isDone && admits && state !== "store-away";
    Object.assign(met, { admits, charged, remaining, resetMs, retryAfterMs, state: met.isShadow ? "shadow" : state });
  });
}

/** Returns true if a refund comes before the tokens of a charge are back, and before its window is over. */
function isBefore({ algorithm }: Rule, { resetMs }: Standing, micros: number): boolean {
  // A sliding window may end at any time before its key is full. The milliseconds were rounded up.
  return algorithm !== "sliding" && micros < (resetMs - 1) * 1000;
}

/** Returns a number of the window of a time in milliseconds, the same for all of an algorithm without windows. */
function windowOf({ algorithm, window }: Rule, time: number): number {
  if (algorithm === "gcra") return 0;
  return window === "month" ? new Date(time).getUTCMonth() : Math.floor((time * 1000) / window);
}

function demandsOf(group: readonly Entry[]): readonly Demand[] {
  return group.map(({ demand }) => demand);
}

/**
 * Returns the reason for which enforced limits deny. A limit that refuses comes before a store that is
 * away, since the answer would be the same with it.
 */
function reasonOf(enforced: readonly { readonly met: MetLimit }[]): ActionDecision["reason"] | undefined {
  for (const [state, kind] of REASONS) {
    const denying = enforced.find(({ met }) => !met.admits && met.state === state);
    if (denying !== undefined) return { kind, limit: denying.met.name };
  }
  return undefined;
}

/** The order in which places are asked. */
const PLACES: readonly Place[] = ["local", "leased", "exact"];

const REASONS = [["failed", "limit-error"], ["refused", "limited"], ["store-away", "store-away"]] as const;

/** Returns a request about several actions; a request with other members is refused by the PDP. */
function withActions(request: unknown): unknown {
  if (typeof request !== "object" || request === null || !("action" in request)) return request;
  const { action, ...others } = request as { readonly action: unknown };
  return "actions" in others ? request : { ...others, actions: [action] };
}
