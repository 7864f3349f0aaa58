// The store in Durable Objects: one object for each key, by its own clock.
//
// Limits whose keys are made of the same parts are in one object, and charged together or not at all by
// one call. A check with several keys calls their objects at once, and refunds where one refuses: never
// too much is admitted, and for a moment too little may be.

import { describe } from "../base/describe.ts";
import { knownMembers } from "../base/option.ts";
import { kindOf, type Demand } from "./demand.ts";
import { digestOf } from "./key.ts";
import type { LimitCall } from "./limit-object.ts";
import { DEADLINE_MS } from "./limits.ts";
import { outcomesOf, readDeadline, Remote, type RemoteCounts } from "./remote.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, isDone, type Store } from "./store.ts";

/** The binding of the objects, a `DurableObjectNamespace`. */
export interface LimitNamespace<Id = any> {
  idFromName(name: string): Id;
  get(id: Id): { fetch(address: string, init: { method: string; body: string }): Promise<{ readonly ok: boolean; json(): Promise<unknown> }> };
}

/** The options of a store in Durable Objects. */
export interface DurableOptions {
  /** The longest time of a check in milliseconds; 50 if absent. */
  readonly deadline?: number | undefined;
}

/** The demands of one key, and their places in the check. */
interface Group {
  readonly name: string;
  readonly places: number[];
  readonly demands: Demand[];
}

/** A store in Durable Objects. */
export class Durable implements Store {
  readonly #namespace: LimitNamespace;
  readonly #remote: Remote;

  constructor(namespace: LimitNamespace, { deadline = DEADLINE_MS }: DurableOptions) {
    this.#namespace = namespace;
    this.#remote = new Remote(deadline);
  }

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    const groups = groupsOf(demands);
    const settled = await Promise.allSettled(groups.map((group) => this.#call(action, group)));
    if (action === "charge" && groups.length > 1) await this.#giveBack(groups, settled);
    const isRefused = settled.some((one) => one.status === "fulfilled" && !isDone(one.value));
    const all = new Array<Outcome>(demands.length);
    groups.forEach(({ places }, at) => {
      const one = settled[at]!;
      // What one limit refuses is refused, also while the object of another is away.
      if (one.status === "rejected" && !isRefused) throw one.reason as Away;
      places.forEach((place, which) => (all[place] = one.status === "fulfilled" ? one.value[which]! : UNKNOWN));
    });
    return all;
  }

  /** True if objects failed in a row and are tried once a second. */
  get isOpen(): boolean {
    return this.#remote.isOpen;
  }

  /** The events since the store was made. */
  get counts(): RemoteCounts {
    return this.#remote.counts;
  }

  /** Refunds the groups that were charged, if another was not. One whose answer never came is not refunded. */
  async #giveBack(groups: readonly Group[], settled: PromiseSettledResult<readonly Outcome[]>[]): Promise<void> {
    const isCharged = (one: PromiseSettledResult<readonly Outcome[]>): boolean => one.status === "fulfilled" && isDone(one.value);
    if (settled.every(isCharged)) return;
    await Promise.all(groups.map(async (group, at) => {
      if (!isCharged(settled[at]!)) return;
      const refunded = await this.#call("refund", group).catch(() => undefined);
      if (refunded !== undefined) settled[at] = { status: "fulfilled", value: refunded };
    }));
  }

  #call(action: Action, { name, demands }: Group): Promise<readonly Outcome[]> {
    const body = JSON.stringify([action, ...demands.map(callOf)]);
    return this.#remote.run(async () => {
      const response = await this.#namespace.get(this.#namespace.idFromName(name)).fetch("https://limits/", { method: "POST", body });
      if (!response.ok) throw new Away("garbled");
      return outcomesOf(await response.json(), demands.length);
    });
  }
}

/** Makes a store in the Durable Objects of a binding, whose class is `LimitObject`. */
export function durable(namespace: LimitNamespace, options: DurableOptions = {}): Durable {
  if (typeof namespace?.idFromName !== "function") throw new TypeError(`expected the binding of Durable Objects, found ${describe(namespace)}`);
  return new Durable(namespace, { deadline: readDeadline(knownMembers(options, ["deadline"])) });
}

/** Returns the demands of each key, in their order. */
function groupsOf(demands: readonly Demand[]): readonly Group[] {
  const groups = new Map<string, Group>();
  demands.forEach((demand, place) => {
    const name = `wg1:${digestOf(demand.key)}`;
    const group = groups.get(name) ?? { name, places: [], demands: [] };
    groups.set(name, group);
    group.places.push(place);
    group.demands.push(demand);
  });
  return [...groups.values()];
}

function callOf({ name, rule, cost }: Demand): LimitCall {
  const { algorithm, quota, window, capacity } = rule;
  const burst = algorithm === "gcra" ? { burst: capacity } : {};
  return { id: `${kindOf(rule)}:${name}`, algorithm, quota, window, ...burst, cost };
}

/** The outcome of a limit of which nobody knows, in a check that another limit refuses. */
const UNKNOWN: Outcome = { wait: 0, remaining: 0, reset: 0 };
