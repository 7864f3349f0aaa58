// Leases: tokens of a hot key, paid in a store in advance and spent in this process. The mirror of
// `crates/ratelimit-store/src/leased.rs`, which has the reasons.
//
// Tokens are paid before they are spent, so all processes together spend no more than the store charged. A token
// is spent within a second of its payment and, of a fixed window, before that window ends. Sliding windows have
// no leases. A lease is at most a tenth of a full key and a sixteenth of what remains: it shrinks to nothing as a
// key is used up, and from then on each check is exact.

import { describe } from "../base/describe.ts";
import { knownMembers, readWhole } from "../base/option.ts";
import { steady } from "./clock.ts";
import { kindOf, type Demand } from "./demand.ts";
import { CHECKS_OF_A_LEASE, DEFAULT_LEASES, LEASE_MICROS, LEASES_OF_A_KEY, LEASES_OF_THE_REST, MAX_LEASES } from "./limits.ts";
import type { Rule } from "./rule.ts";
import type { Action, Outcome } from "./state.ts";
import { isDone, type Store } from "./store.ts";

/** The options of leases. */
export interface LeaseOptions {
  /** The keys that have leases at once; 1,024 if absent. Further keys are exact. */
  readonly keys?: number | undefined;
}

/** Tokens of one key under one rule. */
interface Lease {
  readonly demand: Demand;
  tokens: number;
  ends: number;
  /** What the store had left after the lease, and when it is full. */
  remaining: number;
  fullAt: number;
  /** True while a check is about to pay the next lease. */
  isRenewed: boolean;
}

/** Tokens that were taken from a lease; `ends` tells it from the next one. */
interface Taken {
  readonly lease: Lease;
  readonly ends: number;
  readonly outcome: Outcome;
}

/** The right to pay the next lease of a key, which one check has at a time. */
interface Renewal {
  readonly lease: Lease;
  readonly tokens: number;
}

/** A store of which leases are taken, for every limit that may have them. */
export class Leased implements Store {
  readonly #store: Store;
  readonly #most: number;
  readonly #leases = new Map<string, Lease>();
  readonly #now = steady();

  constructor(store: Store, keys: number) {
    this.#store = store;
    this.#most = keys;
  }

  run(action: Action, demands: readonly Demand[]): readonly Outcome[] | PromiseLike<readonly Outcome[]> {
    if (action === "charge") return this.#charge(demands);
    // A look tells what is in the store: tokens on lease count as used.
    if (action === "reset") for (const demand of demands) this.#leases.delete(idOf(demand));
    return this.#store.run(action, demands);
  }

  /**
   * Ends all leases, and gives their tokens back where their algorithm is GCRA: those of a fixed window might
   * come after its end.
   *
   * @throws Away if the store is away; the tokens of that lease and of later ones are lost.
   */
  async close(): Promise<void> {
    const ended = [...this.#leases.values()];
    this.#leases.clear();
    for (const lease of ended) await this.#giveBack(lease, emptied(lease));
  }

  #charge(demands: readonly Demand[]): readonly Outcome[] | Promise<readonly Outcome[]> {
    const now = this.#now();
    const taken = demands.map((demand) => this.#take(demand, now));
    if (taken.every((one) => one !== undefined)) return taken.map(({ outcome }) => outcome);
    return this.#chargeWith(demands, taken, now);
  }

  /** Charges the demands that have no lease; where the store refuses, the leases have their tokens again. */
  async #chargeWith(demands: readonly Demand[], taken: readonly (Taken | undefined)[], now: number): Promise<readonly Outcome[]> {
    let found: readonly Outcome[] | undefined;
    try {
      found = await this.#chargeRest(demands.filter((_, at) => taken[at] === undefined), now);
    } finally {
      if (found === undefined || !isDone(found)) demands.forEach((demand, at) => putBack(demand, taken[at]));
    }
    const next = found[Symbol.iterator]();
    return taken.map((one) => one?.outcome ?? (next.next().value as Outcome));
  }

  /** Takes the cost of a demand from its lease, if there is one with so many tokens. */
  #take(demand: Demand, now: number): Taken | undefined {
    const lease = this.#leases.get(idOf(demand));
    // A cost of 0 looks, and is for the store to answer.
    if (lease === undefined || demand.cost === 0 || lease.tokens < demand.cost || now >= lease.ends || !isOf(lease, demand)) return undefined;
    lease.tokens -= demand.cost;
    const outcome = { wait: 0, remaining: lease.remaining + lease.tokens, reset: Math.max(lease.fullAt - now, 1) };
    return { lease, ends: lease.ends, outcome };
  }

  /**
   * Charges what no lease has, with the next leases of it in the same call. Where the store refuses that, it is
   * asked for the costs alone.
   */
  async #chargeRest(rest: readonly Demand[], now: number): Promise<readonly Outcome[]> {
    const renewals = rest.map((demand) => this.#begin(demand, now));
    try {
      for (const renewal of renewals) {
        // If this fails they are lost, as those of a process that ends.
        if (renewal !== undefined) await this.#giveBack(renewal.lease, emptied(renewal.lease)).catch(() => undefined);
      }
      const more = rest.map((demand, at) => ({ ...demand, cost: demand.cost + (renewals[at]?.tokens ?? 0) }));
      if (more.some(({ cost }, at) => cost > rest[at]!.cost)) {
        // The time of the store will be later, so that the lease ends before its window.
        const before = this.#now();
        const outcomes = await this.#store.run("charge", more);
        if (isDone(outcomes)) return outcomes.map((outcome, at) => granted(renewals[at], outcome, before));
      }
      const outcomes = await this.#store.run("charge", rest);
      outcomes.forEach((outcome, at) => note(renewals[at], outcome, this.#now()));
      return outcomes;
    } finally {
      // However it ends, the next check may renew.
      for (const renewal of renewals) if (renewal !== undefined) renewal.lease.isRenewed = false;
    }
  }

  /**
   * Begins to renew the lease of a demand. Returns `undefined` if another check does, if there is no room, or if
   * its algorithm has no leases.
   */
  #begin(demand: Demand, now: number): Renewal | undefined {
    if (demand.rule.algorithm === "sliding" || demand.cost === 0) return undefined;
    const id = idOf(demand);
    let lease = this.#leases.get(id);
    if (lease === undefined && !this.#hasRoom(now)) return undefined;
    const isOther = lease !== undefined && !isOf(lease, demand);
    if (lease !== undefined && (lease.isRenewed || (isOther && now < lease.ends))) return undefined;
    if (lease === undefined || isOther) {
      lease = { demand, tokens: 0, ends: 0, remaining: 0, fullAt: 0, isRenewed: false };
      this.#leases.set(id, lease);
    }
    lease.isRenewed = true;
    return { lease, tokens: sizeOf(demand, lease.remaining) };
  }

  #hasRoom(now: number): boolean {
    if (this.#leases.size < this.#most) return true;
    for (const [id, lease] of this.#leases) if (!lease.isRenewed && now >= lease.ends) this.#leases.delete(id);
    return this.#leases.size < this.#most;
  }

  async #giveBack({ demand }: Lease, tokens: number): Promise<void> {
    if (tokens > 0 && demand.rule.algorithm === "gcra") await this.#store.run("refund", [{ ...demand, cost: tokens }]);
  }
}

/** Makes a store that takes leases of another one, for limits whose keys many share. */
export function leased(store: Store, options: LeaseOptions = {}): Leased {
  if (typeof store?.run !== "function") throw new TypeError(`expected a store, found ${describe(store)}`);
  return new Leased(store, readWhole(knownMembers(options, ["keys"]).get("keys"), "keys", MAX_LEASES) ?? DEFAULT_LEASES);
}

/** Takes all tokens of a lease, and returns their number. */
function emptied(lease: Lease): number {
  const { tokens } = lease;
  lease.tokens = 0;
  return tokens;
}

/** Puts tokens back that were taken for nothing, unless their lease has ended. */
function putBack({ cost }: Demand, taken: Taken | undefined): void {
  if (taken !== undefined && taken.lease.ends === taken.ends) taken.lease.tokens += cost;
}

/** Begins a lease that was paid after the time `before`, and returns the outcome with its tokens. */
function granted(renewal: Renewal | undefined, outcome: Outcome, before: number): Outcome {
  if (renewal === undefined) return outcome;
  const { lease, tokens } = renewal;
  lease.tokens = tokens;
  lease.ends = before + durationOf(lease.demand.rule, outcome);
  note(renewal, outcome, before);
  return { ...outcome, remaining: outcome.remaining + tokens };
}

/** Notes what the store has left, by which the next lease is measured. */
function note(renewal: Renewal | undefined, outcome: Outcome, now: number): void {
  if (renewal === undefined) return;
  const { lease } = renewal;
  lease.remaining = outcome.remaining;
  lease.fullAt = now + outcome.reset;
  // What is left is remembered for a while, so that the next check may have a lease.
  if (lease.tokens === 0) lease.ends = now + durationOf(lease.demand.rule, outcome);
}

/** Returns the microseconds for which tokens that were just paid may be spent. */
function durationOf({ algorithm, window }: Rule, { reset }: Outcome): number {
  // The count of a fixed window is full when it ends.
  return Math.min(LEASE_MICROS, algorithm === "fixed" || window === "month" ? reset : window);
}

/** Returns the tokens of the next lease of a key that has so many left. */
function sizeOf({ rule: { capacity }, cost }: Demand, remaining: number): number {
  const tokens = Math.min(Math.floor(capacity / LEASES_OF_A_KEY), Math.floor(remaining / LEASES_OF_THE_REST), Math.max(capacity - cost, 0));
  // A lease for few checks is not worth asking for, and what it has left at last is a larger part.
  return tokens < cost * CHECKS_OF_A_LEASE ? 0 : tokens;
}

/** Returns true if a lease was paid under the rule of a demand: another quota is another rule. */
function isOf({ demand: { rule } }: Lease, demand: Demand): boolean {
  const other = demand.rule;
  return rule === other || (rule.quota === other.quota && rule.capacity === other.capacity);
}

/** Returns a text that is another one for each limit and key. */
function idOf({ name, key, rule }: Demand): string {
  let id = `${kindOf(rule)}:${name.length}:${name}`;
  for (const part of key) {
    const text = typeof part === "string" ? part : Array.from(part, (byte) => String.fromCharCode(byte)).join("");
    id += `${typeof part === "string" ? "t" : "b"}${text.length}:${text}`;
  }
  return id;
}
