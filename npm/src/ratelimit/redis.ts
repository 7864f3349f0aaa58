// The store on Redis, Valkey or Dragonfly, over any client: one call of one script for a check, and on a
// cluster one for each key.
//
// The script is atomic, and the server's clock is the only one. States are those of
// `crates/ratelimit-store`, so that programs in Rust and in JavaScript share limits on one server.
//
// Nothing is sent twice that may have charged. Only `NOSCRIPT`, which comes before anything ran, is
// answered by sending the script itself.

import { describe } from "../base/describe.ts";
import { knownMembers, readFlag } from "../base/option.ts";
import { CHARGE_DIGEST, CHARGE_SCRIPT } from "./charge-script.ts";
import { kindOf, type Demand } from "./demand.ts";
import { inGroups, type Group } from "./groups.ts";
import { digestOf } from "./key.ts";
import { DEADLINE_MS } from "./limits.ts";
import { codeOf, outcomesOf, readDeadline, Remote, type RemoteCounts } from "./remote.ts";
import type { Rule } from "./rule.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, type Store } from "./store.ts";

/** The outcomes of a call, and the time of the server in microseconds. */
interface Answer {
  readonly outcomes: readonly Outcome[];
  readonly time: number;
}

/**
 * Sends a script, or its digest, with its keys and arguments, and resolves with the reply: `EVAL` and
 * `EVALSHA` of a client. It must not send again what may have reached the server.
 */
export type RunScript = (script: string, keys: readonly string[], args: readonly string[]) => PromiseLike<unknown>;

/** The options of a store on Redis. */
export interface RedisOptions {
  /** Sends a digest with `EVALSHA`. Without it, each check sends the whole script: 11 KiB. */
  readonly byDigest?: RunScript | undefined;
  /**
   * True for a cluster: limits of different keys are on different nodes, and each key is a call of its own. The
   * client finds the node.
   */
  readonly cluster?: boolean | undefined;
  /** The longest time of a call in milliseconds; 50 if absent. */
  readonly deadline?: number | undefined;
}

/** A store on a server that speaks the protocol of Redis. */
export class Redis implements Store {
  readonly #run: RunScript;
  readonly #byDigest: RunScript | undefined;
  readonly #isCluster: boolean;
  readonly #remote: Remote;

  constructor(run: RunScript, { byDigest, cluster = false, deadline = DEADLINE_MS }: RedisOptions) {
    this.#run = run;
    this.#isCluster = cluster;
    this.#byDigest = byDigest;
    this.#remote = new Remote(deadline);
  }

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    if (!this.#isCluster) return (await this.#call(action, demands)).outcomes;
    const ends = new Map<Group, readonly number[]>();
    return inGroups(action, demands, async (what, group) => {
      const { outcomes, time } = await this.#call(what, group.demands, ends.get(group));
      ends.set(group, outcomes.map((outcome, at) => endOf(group.demands[at]!, outcome, time)));
      return outcomes;
    });
  }

  /** True if the store failed in a row and is tried once a second. */
  get isOpen(): boolean {
    return this.#remote.isOpen;
  }

  /** The events since the store was made. */
  get counts(): RemoteCounts {
    return this.#remote.counts;
  }

  async #call(action: Action, demands: readonly Demand[], ends?: readonly number[]): Promise<Answer> {
    const [keys, args] = [demands.map(keyOf), argsOf(action, demands, ends)];
    return this.#remote.run(async (isLate) => answerOf(await this.#reply(keys, args, isLate), demands.length));
  }

  async #reply(keys: readonly string[], args: readonly string[], isLate: () => boolean): Promise<unknown> {
    if (this.#byDigest === undefined) return this.#run(CHARGE_SCRIPT, keys, args);
    try {
      return await this.#byDigest(CHARGE_DIGEST, keys, args);
    } catch (error) {
      // After the deadline the caller has its answer, and may have charged elsewhere.
      if (codeOf(error) !== "NOSCRIPT" || isLate()) throw error;
      return this.#run(CHARGE_SCRIPT, keys, args);
    }
  }
}

/** Makes a store over the client of a server: `run` sends a script with `EVAL`. */
export function redis(run: RunScript, options: RedisOptions = {}): Redis {
  if (typeof run !== "function") throw new TypeError(`expected a function that runs scripts, found ${describe(run)}`);
  const members = knownMembers(options, ["byDigest", "cluster", "deadline"]);
  const byDigest = members.get("byDigest");
  if (byDigest !== undefined && typeof byDigest !== "function") throw new TypeError("option `byDigest` must be a function");
  const cluster = readFlag(members.get("cluster"), "cluster");
  return new Redis(run, { byDigest: options.byDigest, cluster, deadline: readDeadline(members) });
}

/** Returns the name of a key: the digest of what was given alone chooses the slot of a cluster. */
function keyOf({ name, key, rule }: Demand): string {
  return `wg1:{${digestOf(key)}}:${kindOf(rule)}:${name}`;
}

/** Returns the arguments of one check. Refunds of a charge end each for itself. */
function argsOf(action: Action, demands: readonly Demand[], ends: readonly number[] | undefined): string[] {
  const args = [String(demands.length)];
  for (const { rule } of demands) args.push(...termsOf(rule));
  const word = (at: number): string => (ends !== undefined ? `${action} ${ends[at]}` : at === 0 ? action : "and");
  demands.forEach(({ cost }, at) => args.push(word(at), String(at + 1), String(cost)));
  return args;
}

/** Reads the reply: outcomes, and the time of the server. */
function answerOf(reply: unknown, count: number): Answer {
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

function termsOf({ algorithm, quota, window, capacity }: Rule): readonly string[] {
  return [algorithm, String(quota), String(window), String(algorithm === "gcra" ? capacity : 0)];
}
