// Checks whose states are in several places: one call for each place, and no charge unless all admit.
//
// The places are called at once. Where one refuses, the others are refunded in a second call: never too
// much is admitted, and for a moment too little may be.

import type { Demand } from "./demand.ts";
import { digestOf } from "./key.ts";
import type { Action, Outcome } from "./state.ts";
import { isDone, type Away } from "./store.ts";

/** The demands of one key, and their places in the check. */
export interface Group {
  /** The digest of the key. */
  readonly digest: string;
  readonly places: readonly number[];
  readonly demands: readonly Demand[];
}

type Call = (action: Action, group: Group) => Promise<readonly Outcome[]>;
type Settled = PromiseSettledResult<readonly Outcome[]>;

/** Does one thing for the demands of each key by a call of its own. */
export async function inGroups(action: Action, demands: readonly Demand[], call: Call): Promise<readonly Outcome[]> {
  const groups = groupsOf(demands);
  if (groups.length === 1) return call(action, groups[0]!);
  const settled = await Promise.allSettled(groups.map((group) => call(action, group)));
  if (action === "charge" && !settled.every(isCharged)) await giveBack(groups, settled, call);
  const isRefused = settled.some((one) => one.status === "fulfilled" && !isDone(one.value));
  const all = new Array<Outcome>(demands.length);
  groups.forEach(({ places }, at) => {
    const one = settled[at]!;
    // What one limit refuses is refused, also while the place of another is away.
    if (one.status === "rejected" && !isRefused) throw one.reason as Away;
    places.forEach((place, which) => (all[place] = one.status === "fulfilled" ? one.value[which]! : UNKNOWN));
  });
  return all;
}

/** Refunds the groups that were charged. One whose answer never came is not refunded: it may never have been charged. */
async function giveBack(groups: readonly Group[], settled: Settled[], call: Call): Promise<void> {
  await Promise.all(groups.map(async (group, at) => {
    if (!isCharged(settled[at]!)) return;
    const refunded = await call("refund", group).catch(() => undefined);
    if (refunded !== undefined) settled[at] = { status: "fulfilled", value: refunded };
  }));
}

function isCharged(one: Settled): boolean {
  return one.status === "fulfilled" && isDone(one.value);
}

/** Returns the demands of each key, in their order. */
function groupsOf(demands: readonly Demand[]): readonly Group[] {
  const groups = new Map<string, { digest: string; places: number[]; demands: Demand[] }>();
  demands.forEach((demand, place) => {
    const digest = digestOf(demand.key);
    const group = groups.get(digest) ?? { digest, places: [], demands: [] };
    groups.set(digest, group);
    group.places.push(place);
    group.demands.push(demand);
  });
  return [...groups.values()];
}

/** The outcome of a limit of which nobody knows, in a check that another limit refuses. */
const UNKNOWN: Outcome = { wait: 0, remaining: 0, reset: 0 };
