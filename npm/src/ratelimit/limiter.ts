// Checks limits in a store, or as they say while it is away.
//
// An outage opens no door that was not asked for: `deny` denies, and `local` admits what a share of the
// quota admits in this process. That share is charged all the time, so that an outage does not begin
// with full keys.

import { knownMembers, readWhole } from "../base/option.ts";
import { DemandReader, type Charge, type Demand } from "./demand.ts";
import { Leased } from "./leased.ts";
import { DEFAULT_KEYS, DEFAULT_LEASES, MAX_KEYS, MAX_LEASES } from "./limits.ts";
import { Memory, memory } from "./memory.ts";
import { MeteringGuard, type PolicyGuard } from "./policy-guard.ts";
import { Rule } from "./rule.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, isDone, type AwayReason, type Store } from "./store.ts";

/** The options of a limiter. */
export interface LimiterOptions {
  /** The place in which the states are; the memory of this process if absent. */
  readonly store?: Store | undefined;
  /**
   * The part of each quota that this process admits while the store is away, above 0 and at most 1; 1 if
   * absent. With `n` processes on one store, `1 / n` keeps all of them together within the quota.
   */
  readonly share?: number | undefined;
  /** The keys for which this process counts its share; 100,000 if absent. */
  readonly localKeys?: number | undefined;
}

/** The options of a limiter of policies. */
export interface PolicyLimiterOptions extends LimiterOptions {
  /**
   * The keys that have leases at once, of limits with `consistency: leased`; 1,024 if absent. With 0 all are
   * exact.
   */
  readonly leases?: number | undefined;
}

/** The answer to a check. */
export interface Checked {
  /** True if every limit that is enforced admits: then each of them was charged. */
  readonly allowed: boolean;
  /** True if a limit denies since the store is away, whatever the others admit. */
  readonly unavailable: boolean;
  /** The outcome of each charge, in their order. */
  readonly limits: readonly Standing[];
  /** The reason for which the store gave no outcomes, if it is away. */
  readonly away?: AwayReason;
}

/** The outcome of one charge. */
export interface Standing {
  /** The name of the limit. */
  readonly name: string;
  /** The parts of the key. */
  readonly key: Charge["key"];
  /** The quota, and the tokens of a full key if that is another number. */
  readonly quota: number;
  readonly burst: number;
  /** The window in microseconds, or a month of the calendar. */
  readonly window: number | "month";
  /** True if the tokens were there. */
  readonly admits: boolean;
  /** The tokens that a charge can take now; 0 if nobody knows. */
  readonly remaining: number;
  /** The milliseconds until the key is full, rounded up. */
  readonly resetMs: number;
  /** The milliseconds until the cost is there, rounded up: 0 if it is, and `Infinity` if it never will be. */
  readonly retryAfterMs: number;
  /**
   * - `charged`: the cost was taken.
   * - `untouched`: nothing was to be taken, or the limit admits and another one refused.
   * - `refused`: the limit refused.
   * - `shadow`: the limit is not enforced. Its cost was taken if it admits.
   * - `store-away`: the store is away, and the limit denies or does not hold.
   * - `unasked`, of limits of policies: another limit denies, and this one was not looked at.
   * - `failed`, of limits of policies: an expression failed, or its value cannot be used.
   */
  readonly state: "charged" | "untouched" | "refused" | "shadow" | "store-away" | "unasked" | "failed";
}

/** Checks limits: what adapters take. */
export interface Guard {
  /** Charges all limits or none. */
  charge(charges: readonly Charge[]): Promise<Checked>;
  /** Tells what a charge would meet. */
  look(charges: readonly Charge[]): Promise<Checked>;
  /** Returns the tokens of a charge that was done, at most until a key is full. */
  refund(charges: readonly Charge[]): Promise<Checked>;
  /** Makes the keys full. It is for administrators. */
  reset(charges: readonly Charge[]): Promise<Checked>;
}

export class Limiter implements Guard {
  readonly #reader = new DemandReader();
  readonly #store: Store;
  readonly #share: number;
  /** The store, if it is in memory. It is never away. */
  readonly #memory: Memory | undefined;
  /** The shares of this process, for another store. */
  readonly #local: Memory | undefined;
  readonly #shares = new WeakMap<Rule, { readonly rule: Rule | undefined }>();

  constructor(store: Store, share: number, localKeys: number) {
    this.#store = store;
    this.#share = share;
    this.#memory = store instanceof Memory ? store : undefined;
    this.#local = this.#memory === undefined ? new Memory({ keys: localKeys }) : undefined;
  }

  /** True if the states are in the memory of this process. */
  get isInMemory(): boolean {
    return this.#memory !== undefined;
  }

  charge(charges: readonly Charge[]): Promise<Checked> {
    return this.#run("charge", charges);
  }

  look(charges: readonly Charge[]): Promise<Checked> {
    return this.#run("look", charges);
  }

  refund(charges: readonly Charge[]): Promise<Checked> {
    return this.#run("refund", charges);
  }

  reset(charges: readonly Charge[]): Promise<Checked> {
    return this.#run("reset", charges);
  }

  async #run(action: Action, charges: readonly Charge[]): Promise<Checked> {
    const memory = this.#memory;
    if (memory !== undefined && Array.isArray(charges) && charges.length === 1) return this.#one(memory, action, charges[0] as Charge);
    const demands = this.#reader.read(charges);
    if (demands.some(({ isShadow }) => isShadow)) return this.#withShadows(action, demands);
    return demands.length > 0 ? this.settled(action, demands) : NOTHING;
  }

  /** Does one thing for one limit in memory, without the lists that several need. */
  #one(memory: Memory, action: Action, charge: Charge): Checked {
    const demand = this.#reader.demand(charge);
    const outcome = memory.one(action, demand);
    const standing = known(demand, outcome, action, outcome.wait === 0);
    if (demand.isShadow) return { allowed: true, unavailable: false, limits: [{ ...standing, state: "shadow" }] };
    return { allowed: standing.admits, unavailable: false, limits: [standing] };
  }

  /** Does one thing for all that is enforced; then, if that is admitted, for each shadow by itself. */
  async #withShadows(action: Action, demands: readonly Demand[]): Promise<Checked> {
    const [enforced, shadows] = [false, true].map((which) => demands.filter(({ isShadow }) => isShadow === which)) as [Demand[], Demand[]];
    const known = enforced.length > 0 ? await this.settled(action, enforced) : NOTHING;
    const then = action === "charge" && !known.allowed ? "look" : action;
    const settled = await Promise.all(shadows.map((demand) => this.settled(then, [demand])));
    const standings = settled.map(({ limits: [standing] }): Standing => ({ ...standing!, state: "shadow" }));
    return { ...known, limits: merged(demands, known.limits, standings) };
  }

  /** Does one thing for demands that are enforced, and returns the answer at once where the store does. */
  settled(action: Action, demands: readonly Demand[]): Checked | Promise<Checked> {
    try {
      const found = this.#store.run(action, demands);
      if (Array.isArray(found)) return this.#answer(action, demands, found);
      return Promise.resolve(found).then((outcomes) => this.#answer(action, demands, outcomes)).catch((error) => this.#failed(action, demands, error));
    } catch (error) {
      return this.#failed(action, demands, error);
    }
  }

  #answer(action: Action, demands: readonly Demand[], outcomes: readonly Outcome[]): Checked {
    if (outcomes.length !== demands.length) throw new Away("garbled");
    if (this.#local !== undefined) this.#keepWarm(this.#local, action, demands, outcomes);
    const isAllDone = isDone(outcomes);
    return checked(demands.map((demand, at) => known(demand, outcomes[at]!, action, isAllDone)));
  }

  #failed(action: Action, demands: readonly Demand[], error: unknown): Checked {
    // Keys that cannot be written are a fault of the caller, who must not take it for an outage.
    if (error instanceof TypeError || error instanceof RangeError) throw error;
    return this.#standIn(action, demands, error instanceof Away ? error.reason : "lost");
  }

  /**
   * Repeats in memory what the store did, each limit for itself. A charge that is more than its share has
   * left uses up the share.
   */
  #keepWarm(local: Memory, action: Action, demands: readonly Demand[], outcomes: readonly Outcome[]): void {
    if (action === "look" || (action === "charge" && !isDone(outcomes))) return;
    for (const demand of demands) {
      const shared = this.#shared(demand);
      if (shared === undefined) continue;
      const [outcome] = local.run(action, [shared]);
      if (outcome!.wait !== 0) local.run(action, [{ ...shared, cost: outcome!.remaining }]);
    }
  }

  /** Answers without the store. Where a limit denies, no other is charged. */
  #standIn(action: Action, demands: readonly Demand[], away: AwayReason): Checked {
    const shares = demands.map((demand) => this.#shared(demand));
    const isDenied = demands.some(({ failure }, at) => failure !== "allow" && shares[at] === undefined);
    const then = action === "charge" && isDenied ? "look" : action;
    const outcomes = this.#local?.run(then, shares.filter((share) => share !== undefined)) ?? [];
    let next = 0;
    const standings = demands.map((demand, at) => {
      const share = shares[at];
      if (share === undefined) return without(demand);
      return known(share, outcomes[next++]!, then, isDone(outcomes));
    });
    return { ...checked(standings), away };
  }

  /** Returns a demand for the share of this process, if its limit has one. */
  #shared(demand: Demand): Demand | undefined {
    if (demand.failure !== "local" || this.#local === undefined) return undefined;
    let share = this.#shares.get(demand.rule);
    if (share === undefined) {
      share = { rule: partOf(demand.rule, this.#share) };
      this.#shares.set(demand.rule, share);
    }
    return share.rule === undefined ? undefined : { ...demand, rule: share.rule };
  }
}

/**
 * Makes a limiter, which checks limits in a store: with a PDP those of its policies, with every decision,
 * and without one those that a program gives.
 *
 * The PDP is one that was opened with the option `limits: true`. Limits with `consistency: local` are in the
 * memory of this process; those with `consistency: leased` take leases of the store: see `leased`.
 */
export function limiter(options?: LimiterOptions): Guard;
export function limiter<R, D>(pdp: Decider<R, D>, options?: PolicyLimiterOptions): PolicyGuard<R, D>;
export function limiter<R, D>(first: LimiterOptions | Decider<R, D> = {}, second?: PolicyLimiterOptions): Guard | PolicyGuard<R, D> {
  if (typeof (first as Partial<Decider<R, D>>)?.check !== "function") return limiterOf(first as LimiterOptions);
  const { leases, ...options } = second ?? {};
  const { localKeys } = options;
  const most = readWhole(leases, "leases", MAX_LEASES) ?? DEFAULT_LEASES;
  const exact = limiterOf(options);
  if (exact.isInMemory) return new MeteringGuard<R, D>(first, { exact, leased: exact, local: exact });
  const local = new Limiter(memory({ keys: localKeys }), 1, DEFAULT_KEYS);
  if (most === 0) return new MeteringGuard<R, D>(first, { exact, leased: exact, local });
  const book = new Leased(options.store!, most);
  return new MeteringGuard<R, D>(first, { exact, leased: limiterOf({ ...options, store: book }), local }, book);
}

/** A PDP, of which the limiter asks for decisions. */
export interface Decider<R, D> {
  check(request: R): D;
}

function limiterOf(options: LimiterOptions): Limiter {
  const members = knownMembers(options, ["store", "share", "localKeys"]);
  const { store = memory(), share = 1 } = options;
  if (typeof store?.run !== "function") throw new TypeError("option `store` must be a store");
  if (typeof share !== "number") throw new TypeError("option `share` must be a number");
  if (!(share > 0 && share <= 1)) throw new RangeError(`option \`share\` must be above 0 and at most 1, found ${share}`);
  return new Limiter(store, share, readWhole(members.get("localKeys"), "localKeys", MAX_KEYS) ?? DEFAULT_KEYS);
}

/**
 * Returns a part of a rule, at least one token. Returns `undefined` if it has no such part: a burst of
 * many hours has at most the ticks of its rule, and a smaller quota needs more of them for a token.
 */
function partOf({ algorithm, quota, window, capacity }: Rule, share: number): Rule | undefined {
  const part = (tokens: number): number => Math.max(Math.floor(tokens * share), 1);
  try {
    return new Rule({ algorithm, quota: part(quota), window, burst: algorithm === "gcra" ? part(capacity) : undefined });
  } catch {
    return undefined;
  }
}

function known({ name, key, rule, cost }: Demand, { wait, remaining, reset }: Outcome, action: Action, done: boolean): Standing {
  const admits = wait === 0;
  const isTaken = action === "charge" && done && cost > 0;
  const state = !admits ? "refused" : isTaken ? "charged" : "untouched";
  const { quota, capacity: burst, window } = rule;
  const retryAfterMs = wait < 0 ? Infinity : Math.ceil(wait / 1000);
  return { name, key, quota, burst, window, admits, remaining, resetMs: Math.ceil(reset / 1000), retryAfterMs, state };
}

/** Returns the standing of a limit without any store. */
function without({ name, key, rule: { quota, capacity: burst, window }, failure }: Demand): Standing {
  const admits = failure === "allow";
  return { name, key, quota, burst, window, admits, remaining: 0, resetMs: 0, retryAfterMs: admits ? 0 : RETRY_MS, state: "store-away" };
}

function checked(limits: readonly Standing[]): Checked {
  const allowed = limits.every(({ admits }) => admits);
  return { allowed, unavailable: limits.some(({ admits, state }) => !admits && state === "store-away"), limits };
}

/** Returns the standings of all demands in their order. */
function merged(demands: readonly Demand[], enforced: readonly Standing[], shadows: readonly Standing[]): readonly Standing[] {
  const [one, other] = [enforced[Symbol.iterator](), shadows[Symbol.iterator]()];
  return demands.map(({ isShadow }) => (isShadow ? other : one).next().value as Standing);
}

const NOTHING: Checked = { allowed: true, unavailable: false, limits: [] };

/** The wait that is told where a limit denies since the store is away: it is tried once a second. */
const RETRY_MS = 1000;
