// The store on Redis, Valkey or Dragonfly, over any client: one call of one script for the checks that
// arrive in the same turn of the event loop, and on a cluster one for each key of a check.
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
import { answerOf, inGroups, type Answer } from "./groups.ts";
import { digestOf } from "./key.ts";
import { DEADLINE_MS, MAX_BATCH } from "./limits.ts";
import { codeOf, readDeadline, Remote, type RemoteCounts } from "./remote.ts";
import type { Rule } from "./rule.ts";
import type { Action, Outcome } from "./state.ts";
import type { Store } from "./store.ts";

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

/** One check: what to do for its demands, and the names of their keys. */
interface Check {
  readonly action: Action;
  readonly demands: readonly Demand[];
  readonly keys: readonly string[];
  /** The times from which refunds of a charge do nothing. */
  readonly ends?: readonly number[] | undefined;
}

interface Waiting extends Check {
  readonly resolve: (outcomes: readonly Outcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A store on a server that speaks the protocol of Redis. */
export class Redis implements Store {
  readonly #run: RunScript;
  readonly #byDigest: RunScript | undefined;
  readonly #isCluster: boolean;
  readonly #remote: Remote;
  /** The checks of this turn of the event loop. */
  #waiting: Waiting[] = [];

  constructor(run: RunScript, { byDigest, cluster = false, deadline = DEADLINE_MS }: RedisOptions) {
    this.#run = run;
    this.#isCluster = cluster;
    this.#byDigest = byDigest;
    this.#remote = new Remote(deadline);
  }

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    if (!this.#isCluster) return this.#join(action, demands, demands.map(keyOf));
    return inGroups(action, demands, (what, group, ends) => this.#alone(what, group.demands, ends));
  }

  /** True if the store failed in a row and is tried once a second. */
  get isOpen(): boolean {
    return this.#remote.isOpen;
  }

  /** The events since the store was made. */
  get counts(): RemoteCounts {
    return this.#remote.counts;
  }

  /** Adds a check to those that the end of this turn sends. */
  #join(action: Action, demands: readonly Demand[], keys: readonly string[]): Promise<readonly Outcome[]> {
    this.#remote.admit();
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) endOfTurn(() => this.#flush());
      this.#waiting.push({ action, demands, keys, resolve, reject });
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let from = 0; from < waiting.length; from += MAX_BATCH) void this.#send(waiting.slice(from, from + MAX_BATCH));
  }

  /** Sends checks in one call, which share its fate. */
  async #send(batch: readonly Waiting[]): Promise<void> {
    try {
      const { outcomes } = await this.#call(batch, batch.length);
      let next = 0;
      for (const { demands, resolve } of batch) resolve(outcomes.slice(next, (next += demands.length)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #alone(action: Action, demands: readonly Demand[], ends?: readonly number[]): Promise<Answer> {
    const check = { action, demands, keys: demands.map(keyOf), ends };
    this.#remote.admit();
    return this.#call([check], 1);
  }

  #call(batch: readonly Check[], checks: number): Promise<Answer> {
    const keys = batch.flatMap((check) => check.keys);
    const args = argsOf(batch);
    return this.#remote.call(async (isLate) => answerOf(await this.#reply(keys, args, isLate), keys.length), checks);
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

/** Returns the arguments of checks, one after another: each rule once, then what to do for each key. */
function argsOf(batch: readonly Check[]): string[] {
  const numbers = new Map<Rule, string>();
  const [terms, words]: [string[], string[]] = [[], []];
  for (const { action, demands, ends } of batch) {
    demands.forEach(({ rule, cost }, at) => {
      let number = numbers.get(rule);
      if (number === undefined) {
        number = String(numbers.size + 1);
        numbers.set(rule, number);
        terms.push(...termsOf(rule));
      }
      // Refunds of a charge end each for itself.
      const word = ends !== undefined ? `${action} ${ends[at]}` : at === 0 ? action : "and";
      words.push(word, number, String(cost));
    });
  }
  return [String(numbers.size), ...terms, ...words];
}

/** Calls a function when the code that runs now, and all that waits for nothing, has run. */
function endOfTurn(act: () => void): void {
  if (typeof setImmediate === "function") setImmediate(act);
  else setTimeout(act, 0);
}

function termsOf({ algorithm, quota, window, capacity }: Rule): readonly string[] {
  return [algorithm, String(quota), String(window), String(algorithm === "gcra" ? capacity : 0)];
}
