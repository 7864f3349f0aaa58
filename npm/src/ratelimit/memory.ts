// The store in this process: a table of fixed memory.

import { knownMembers, readOneOf, readWhole } from "../base/option.ts";
import { steady } from "./clock.ts";
import { kindOf, type Demand } from "./demand.ts";
import { HalfSipHash } from "./half-sip-hash.ts";
import { paddedWords, WORDS } from "./key.ts";
import { DEFAULT_KEYS, MAX_KEYS, MAX_KNOWN_RULES } from "./limits.ts";
import type { Rule } from "./rule.ts";
import type { Action, Outcome } from "./state.ts";
import { isDone, type Store } from "./store.ts";
import { Table, type WhenFull } from "./table.ts";

/** The options of a store in memory. */
export interface MemoryOptions {
  /** The keys that it has places for at once; 100,000 if absent. Each takes 36 bytes, at once. */
  readonly keys?: number | undefined;
  /**
   * What becomes of a new key while no place is free for it: `deny` refuses it, `evict` gives up the
   * state that is over first, whose key is full again. `deny` if absent.
   */
  readonly whenFull?: WhenFull | undefined;
  /** Microseconds since 1970. */
  readonly now?: (() => number) | undefined;
}

/** The events of a store in memory since it was made. */
export interface MemoryCounts {
  /** Charges refused since no place was free. */
  readonly full: number;
  /** States that were given up for others. */
  readonly evicted: number;
}

/**
 * States in the memory of this process. A check is synchronous, so that checks follow each other and
 * one of several limits charges all or none.
 */
export class Memory implements Store {
  readonly #table: Table;
  readonly #now: () => number;
  /** The secret of fingerprints, so that nobody can choose keys that meet. */
  readonly #start: HalfSipHash;
  /** The hashes of the names and kinds of limits. */
  readonly #known = new Map<string, { readonly rule: Rule; readonly hash: HalfSipHash }>();
  readonly #fingerprint = new Int32Array(2);

  constructor({ keys = DEFAULT_KEYS, whenFull = "deny", now }: MemoryOptions = {}) {
    this.#table = new Table(keys, whenFull);
    this.#now = steady(now);
    const [key0 = 0, key1 = 0] = crypto.getRandomValues(new Uint32Array(2));
    this.#start = new HalfSipHash(key0, key1);
  }

  run(action: Action, demands: readonly Demand[]): readonly Outcome[] {
    const now = this.#now();
    if (demands.length === 1) return [this.#apply(now, action, demands[0]!)];
    if (action !== "charge") return demands.map((demand) => this.#apply(now, action, demand));
    const looks = demands.map((demand) => this.#apply(now, "look", demand));
    return isDone(looks) ? this.#charge(now, demands) : looks;
  }

  /** Does one thing for one demand. */
  one(action: Action, demand: Demand): Outcome {
    return this.#apply(this.#now(), action, demand);
  }

  /** The events since the store was made. */
  get counts(): MemoryCounts {
    const { full, evicted } = this.#table;
    return { full, evicted };
  }

  /** Returns the number of keys that have places, and of places. It reads the whole memory. */
  fill(): { readonly keys: number; readonly places: number } {
    return { keys: this.#table.live(this.#now()), places: this.#table.places };
  }

  /** Charges demands that are there. Where there is no place for one, the others are refunded. */
  #charge(now: number, demands: readonly Demand[]): readonly Outcome[] {
    const outcomes: Outcome[] = [];
    for (const demand of demands) {
      const outcome = this.#apply(now, "charge", demand);
      if (outcome.wait !== 0) {
        const others = demands.slice(0, outcomes.length).map((charged) => this.#apply(now, "refund", charged));
        const rest = demands.slice(others.length + 1).map((next) => this.#apply(now, "look", next));
        return [...others, outcome, ...rest];
      }
      outcomes.push(outcome);
    }
    return outcomes;
  }

  #apply(now: number, action: Action, { name, key, rule, cost }: Demand): Outcome {
    const prefix = this.#prefix(name, rule);
    const fingerprint = this.#fingerprint;
    prefix.digest(WORDS, paddedWords(key), fingerprint);
    return this.#table.apply(fingerprint[0]!, fingerprint[1]!, rule, now, action, cost);
  }

  /** Returns the hash of the name, algorithm and window. */
  #prefix(name: string, rule: Rule): HalfSipHash {
    const known = this.#known.get(name);
    if (known !== undefined && (known.rule === rule || kindOf(known.rule) === kindOf(rule))) return known.hash;
    const hash = new HalfSipHash(0, 0);
    hash.copy(this.#start);
    hash.add(WORDS, paddedWords([name, kindOf(rule)]));
    if (this.#known.size >= MAX_KNOWN_RULES) this.#known.clear();
    this.#known.set(name, { rule, hash });
    return hash;
  }
}

/** Makes a store in the memory of this process. */
export function memory(options: MemoryOptions = {}): Memory {
  const members = knownMembers(options, ["keys", "whenFull", "now"]);
  const keys = readWhole(members.get("keys"), "keys", MAX_KEYS);
  const whenFull = readOneOf(members.get("whenFull"), "whenFull", ["deny", "evict"]) as WhenFull | undefined;
  const now = members.get("now");
  if (now !== undefined && typeof now !== "function") throw new TypeError("option `now` must be a function");
  return new Memory({ keys, whenFull, now: options.now });
}
