// The store in Durable Objects: one object for each key, by its own clock.
//
// Limits whose keys are made of the same parts are in one object, and charged together or not at all by
// one call. A check with several keys calls their objects at once, and refunds where one refuses: never into a
// later window than that of the charge, by the clock of the object.

import { describe } from "../base/describe.ts";
import { knownMembers } from "../base/option.ts";
import { kindOf, type Demand } from "./demand.ts";
import { answerOf, inGroups, type Answer, type Group } from "./groups.ts";
import type { LimitCall } from "./limit-object.ts";
import { DEADLINE_MS } from "./limits.ts";
import { readDeadline, Remote, type RemoteCounts } from "./remote.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, type Store } from "./store.ts";

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

/** A store in Durable Objects. */
export class Durable implements Store {
  readonly #namespace: LimitNamespace;
  readonly #remote: Remote;

  constructor(namespace: LimitNamespace, { deadline = DEADLINE_MS }: DurableOptions) {
    this.#namespace = namespace;
    this.#remote = new Remote(deadline);
  }

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    return inGroups(action, demands, (what, group, ends) => this.#call(what, group, ends));
  }

  /** True if objects failed in a row and are tried once a second. */
  get isOpen(): boolean {
    return this.#remote.isOpen;
  }

  /** The events since the store was made. */
  get counts(): RemoteCounts {
    return this.#remote.counts;
  }

  #call(action: Action, { digest, demands }: Group, ends?: readonly number[]): Promise<Answer> {
    const body = JSON.stringify([action, ...demands.map((demand, at) => callOf(demand, ends?.[at]))]);
    return this.#remote.run(async () => {
      const response = await this.#namespace.get(this.#namespace.idFromName(`wg1:${digest}`)).fetch("https://limits/", { method: "POST", body });
      if (!response.ok) throw new Away("garbled");
      return answerOf(await response.json(), demands.length);
    });
  }
}

/** Makes a store in the Durable Objects of a binding, whose class is `LimitObject`. */
export function durable(namespace: LimitNamespace, options: DurableOptions = {}): Durable {
  if (typeof namespace?.idFromName !== "function") throw new TypeError(`expected the binding of Durable Objects, found ${describe(namespace)}`);
  return new Durable(namespace, { deadline: readDeadline(knownMembers(options, ["deadline"])) });
}

function callOf({ name, rule, cost }: Demand, before: number | undefined): LimitCall {
  const { algorithm, quota, window, capacity } = rule;
  const burst = algorithm === "gcra" ? { burst: capacity } : {};
  return { id: `${kindOf(rule)}:${name}`, algorithm, quota, window, ...burst, cost, ...(before !== undefined && { before }) };
}
