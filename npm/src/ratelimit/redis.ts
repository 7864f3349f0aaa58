// The store on Redis, Valkey or Dragonfly, over any client: one call of one script for a check.
//
// The script is atomic, and the server's clock is the only one. States are those of
// `crates/ratelimit-store`, so that programs in Rust and in JavaScript share limits on one server.
//
// Nothing is sent twice that may have charged. Only `NOSCRIPT`, which comes before anything ran, is
// answered by sending the script itself.

import { describe } from "../base/describe.ts";
import { knownMembers, readWhole } from "../base/option.ts";
import { Breaker } from "./breaker.ts";
import { CHARGE_DIGEST, CHARGE_SCRIPT } from "./charge-script.ts";
import { steady } from "./clock.ts";
import { kindOf, type Demand } from "./demand.ts";
import { digestOf } from "./key.ts";
import { DEADLINE_MS, MAX_DEADLINE_MS, MAX_WAITING } from "./limits.ts";
import type { Rule } from "./rule.ts";
import type { Action, Outcome } from "./state.ts";
import { Away, type Store } from "./store.ts";

/**
 * Sends a script, or its digest, with its keys and arguments, and resolves with the reply: `EVAL` and
 * `EVALSHA` of a client. It must not send again what may have reached the server.
 */
export type RunScript = (script: string, keys: readonly string[], args: readonly string[]) => PromiseLike<unknown>;

/** The options of a store on Redis. */
export interface RedisOptions {
  /** Sends a digest with `EVALSHA`. Without it, each check sends the whole script: 9 KiB. */
  readonly byDigest?: RunScript | undefined;
  /** The longest time of a check in milliseconds; 50 if absent. */
  readonly deadline?: number | undefined;
}

/** The events of a store on Redis since it was made. */
export interface RedisCounts {
  /** Checks that got outcomes. */
  readonly answered: number;
  /** Checks that were sent and got none. */
  readonly failures: number;
  /** Checks that were not sent, since the breaker was open or too many waited. */
  readonly turnedAway: number;
  /** Times that the breaker opened. */
  readonly opened: number;
}

/** A store on a server that speaks the protocol of Redis. */
export class Redis implements Store {
  readonly #run: RunScript;
  readonly #byDigest: RunScript | undefined;
  readonly #deadline: number;
  readonly #breaker = new Breaker();
  readonly #now = steady();
  #waiting = 0;
  #answered = 0;
  #failures = 0;
  #turnedAway = 0;

  constructor(run: RunScript, { byDigest, deadline = DEADLINE_MS }: RedisOptions) {
    this.#run = run;
    this.#byDigest = byDigest;
    this.#deadline = deadline;
  }

  async run(action: Action, demands: readonly Demand[]): Promise<readonly Outcome[]> {
    const keys = demands.map(keyOf);
    if (!this.#breaker.admits(this.#now())) throw this.#turned("open");
    if (this.#waiting >= MAX_WAITING) throw this.#turned("crowded");
    try {
      const outcomes = await this.#within(this.#call(keys, argsOf(action, demands), demands.length));
      this.#breaker.succeeded();
      this.#answered += 1;
      return outcomes;
    } catch (error) {
      this.#breaker.failed(this.#now());
      this.#failures += 1;
      throw awayOf(error);
    }
  }

  /** True if the store failed in a row and is tried once a second. */
  get isOpen(): boolean {
    return this.#breaker.isOpen;
  }

  /** The events since the store was made. */
  get counts(): RedisCounts {
    const { opened } = this.#breaker;
    return { answered: this.#answered, failures: this.#failures, turnedAway: this.#turnedAway, opened };
  }

  /** Sends a check and reads the reply, whenever it comes. */
  async #call(keys: readonly string[], args: readonly string[], count: number): Promise<readonly Outcome[]> {
    this.#waiting += 1;
    try {
      return outcomesOf(await this.#reply(keys, args), count);
    } finally {
      this.#waiting -= 1;
    }
  }

  async #reply(keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.#byDigest === undefined) return this.#run(CHARGE_SCRIPT, keys, args);
    const start = this.#now();
    try {
      return await this.#byDigest(CHARGE_DIGEST, keys, args);
    } catch (error) {
      // The caller has its answer after the deadline, and may have charged elsewhere.
      if (codeOf(error) !== "NOSCRIPT" || this.#now() - start >= this.#deadline * 1000) throw error;
      return this.#run(CHARGE_SCRIPT, keys, args);
    }
  }

  /** Rejects at the deadline. What comes later is ignored. */
  #within(call: Promise<readonly Outcome[]>): Promise<readonly Outcome[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Away("late")), this.#deadline);
      const settled = <A>(settle: (value: A) => void) => (value: A) => {
        clearTimeout(timer);
        settle(value);
      };
      call.then(settled(resolve), settled(reject));
    });
  }

  #turned(reason: "open" | "crowded"): Away {
    this.#turnedAway += 1;
    return new Away(reason);
  }
}

/** Makes a store over the client of a server: `run` sends a script with `EVAL`. */
export function redis(run: RunScript, options: RedisOptions = {}): Redis {
  if (typeof run !== "function") throw new TypeError(`expected a function that runs scripts, found ${describe(run)}`);
  const members = knownMembers(options, ["byDigest", "deadline"]);
  const byDigest = members.get("byDigest");
  if (byDigest !== undefined && typeof byDigest !== "function") throw new TypeError("option `byDigest` must be a function");
  const deadline = readWhole(members.get("deadline"), "deadline", MAX_DEADLINE_MS);
  if (deadline === 0) throw new RangeError("option `deadline` must be at least 1");
  return new Redis(run, { byDigest: options.byDigest, deadline });
}

/** Returns the name of a key: the digest of what was given alone chooses the slot of a cluster. */
function keyOf({ name, key, rule }: Demand): string {
  return `wg1:{${digestOf(key)}}:${kindOf(rule)}:${name}`;
}

/** Returns the arguments of one check: a batch of one, which reads all keys with one command. */
function argsOf(action: Action, demands: readonly Demand[]): string[] {
  const args = ["batch", String(demands.length)];
  for (const { rule } of demands) args.push(...termsOf(rule));
  demands.forEach(({ cost }, at) => args.push(at === 0 ? action : "and", String(at + 1), String(cost)));
  return args;
}

function termsOf({ algorithm, quota, window, capacity }: Rule): readonly string[] {
  return [algorithm, String(quota), String(window), String(algorithm === "gcra" ? capacity : 0)];
}

/** Reads a reply: three whole numbers for each demand. */
function outcomesOf(reply: unknown, count: number): readonly Outcome[] {
  if (!Array.isArray(reply) || reply.length !== count * 3) throw new Away("garbled");
  const numbers = reply.map(numberOf);
  return Array.from({ length: count }, (_, at) => {
    const [wait = 0, remaining = 0, reset = 0] = numbers.slice(at * 3, at * 3 + 3);
    if (wait < -1 || remaining < 0 || reset < 0) throw new Away("garbled");
    return { wait, remaining, reset };
  });
}

function numberOf(value: unknown): number {
  const number = typeof value === "bigint" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isSafeInteger(number)) throw new Away("garbled");
  return number;
}

/** Returns what is told about a failure: the code of a refusal, and nothing else that was said. */
function awayOf(error: unknown): Away {
  if (error instanceof Away) return error;
  const code = codeOf(error);
  return code === undefined ? new Away("lost") : new Away("refused", code);
}

/** Returns the word in capitals that errors of a server begin with. */
function codeOf(error: unknown): string | undefined {
  const message = error instanceof Error ? error.message : typeof error === "string" ? error : "";
  return /^(?:\w*Error: )?([A-Z]{2,16})\b/.exec(message.slice(0, 64))?.[1];
}
