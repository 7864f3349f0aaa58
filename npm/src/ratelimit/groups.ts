// Checks whose states are in several places: one call for each place, and no charge unless all admit.
//
// The places are called at once. Where one refuses, the others are refunded in a second call: never too
// much is admitted, and for a moment too little may be. A refund carries the time from which it must do
// nothing, by the clock of its place: it would give back the tokens of others.

import type { Demand } from "./demand.ts";
import { digestOf } from "./key.ts";
import type { Action, Outcome } from "./state.ts";
import { outcomesOf } from "./remote.ts";
import { Away, isDone } from "./store.ts";

/** The demands of one key, and their places in the check. */
export interface Group {
  /** The digest of the key. */
  readonly digest: string;
  readonly places: readonly number[];
  readonly demands: readonly Demand[];
}

/** The outcomes of a call, and the time of the store in microseconds. */
export interface Answer {
  readonly outcomes: readonly Outcome[];
  readonly time: number;
}

/** Calls a place. With `ends` it refunds a charge, for each demand until a time of the place. */
type Call = (action: Action, group: Group, ends?: readonly number[]) => Promise<Answer>;
type Settled = PromiseSettledResult<Answer>;

/** Does one thing for the demands of each key by a call of its own. */
export async function inGroups(action: Action, demands: readonly Demand[], call: Call): Promise<readonly Outcome[]> {
  const groups = groupsOf(demands);
  if (groups.length === 1) return (await call(action, groups[0]!)).outcomes;
  const settled = await Promise.allSettled(groups.map((group) => call(action, group)));
  if (action === "charge" && !settled.every(isCharged)) await giveBack(groups, settled, call);
  const isRefused = settled.some((one) => one.status === "fulfilled" && !isDone(one.value.outcomes));
  const all = new Array<Outcome>(demands.length);
  groups.forEach(({ places }, at) => {
    const one = settled[at]!;
    // What one limit refuses is refused, also while the place of another is away.
    if (one.status === "rejected" && !isRefused) throw one.reason as Away;
    places.forEach((place, which) => (all[place] = one.status === "fulfilled" ? one.value.outcomes[which]! : UNKNOWN));
  });
  return all;
}

/** Refunds the groups that were charged. One whose answer never came is not refunded: it may never have been charged. */
async function giveBack(groups: readonly Group[], settled: Settled[], call: Call): Promise<void> {
  await Promise.all(groups.map(async (group, at) => {
    const charged = settled[at]!;
    if (charged.status === "rejected" || !isCharged(charged)) return;
    const { outcomes, time } = charged.value;
    const ends = group.demands.map((demand, which) => endOf(demand, outcomes[which]!, time));
    const refunded = await call("refund", group, ends).catch(() => undefined);
    if (refunded !== undefined) settled[at] = { status: "fulfilled", value: refunded };
  }));
}

function isCharged(one: Settled): boolean {
  return one.status === "fulfilled" && isDone(one.value.outcomes);
}

/** Reads numbers as stores answer them: those of outcomes, and the time of the store. Throws if they are none. */
export function answerOf(reply: unknown, count: number): Answer {
  if (!Array.isArray(reply) || reply.length !== count * 3 + 1) throw new Away("garbled");
  const time = Number(reply.at(-1));
  if (!Number.isSafeInteger(time) || time < 0) throw new Away("garbled");
  return { outcomes: outcomesOf(reply.slice(0, -1), count), time };
}

/**
 * Returns the time from which a refund of a charge at `time` must do nothing: when its tokens are back, or its
 * window is over.
 */
function endOf({ rule: { algorithm, window } }: Demand, { reset }: Outcome, time: number): number {
  return algorithm === "sliding" && window !== "month" ? time - (time % window) + window : time + reset;
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
