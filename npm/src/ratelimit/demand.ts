// What a check asks of a store: charges of a caller, checked.

import { describe } from "../base/describe.ts";
import type { Key } from "./key.ts";
import { MAX_CHARGES, MAX_KNOWN_RULES, MAX_NAME_BYTES } from "./limits.ts";
import { Rule, whole, type Terms } from "./rule.ts";

/**
 * What holds for a limit while its store is away: a share of the quota in this process, nothing is
 * admitted, or everything is.
 */
export type Failure = "local" | "deny" | "allow";

/** One limit of a check: its name and terms, the key that it counts for, and a cost. */
export interface Charge extends Terms {
  /** The name of the limit, of 1 to 128 bytes. */
  readonly name: string;
  /** The parts of the key, such as the id of a principal. `[]` is one key for all. */
  readonly key: Key;
  /** The tokens; 1 if absent. 0 only looks. */
  readonly cost?: number | undefined;
  /** What holds while the store is away; `local` if absent. */
  readonly failure?: Failure | undefined;
  /** `shadow` for a limit that counts and refuses nothing; `enforce` if absent. */
  readonly mode?: "enforce" | "shadow" | undefined;
}

/** A charge that was checked. */
export interface Demand {
  /** The name of the limit. */
  readonly name: string;
  /** The parts of the key. */
  readonly key: Key;
  /** The rule of the terms. */
  readonly rule: Rule;
  /** The tokens. */
  readonly cost: number;
  /** What holds while the store is away. */
  readonly failure: Failure;
  /** True if the limit refuses nothing. */
  readonly isShadow: boolean;
}

/** Reads charges. It remembers the rule of each name, since few limits have many checks. */
export class DemandReader {
  readonly #rules = new Map<string, Rule>();

  /** Returns the demands of one check. Throws if a charge has a wrong kind or exceeds a bound. */
  read(charges: readonly Charge[]): readonly Demand[] {
    if (!Array.isArray(charges)) throw new TypeError(`expected an array of charges, found ${describe(charges)}`);
    if (charges.length > MAX_CHARGES) throw new RangeError(`expected at most ${MAX_CHARGES} limits in a check, found ${charges.length}`);
    const demands = (charges as readonly Charge[]).map((charge) => this.demand(charge));
    if (demands.length > 1) checkTwice(demands);
    return demands;
  }

  /** Returns the demand of one charge. */
  demand(charge: Charge): Demand {
    if (typeof charge !== "object" || charge === null) throw new TypeError(`a charge must be an object, found ${describe(charge)}`);
    const { name, key, cost = 1, failure = "local", mode = "enforce" } = charge;
    const rule = this.#rule(name, charge);
    whole(cost, "cost");
    if (failure !== "local" && failure !== "deny" && failure !== "allow") throw new RangeError("`failure` must be one of local, deny, allow");
    if (mode !== "enforce" && mode !== "shadow") throw new RangeError("`mode` must be one of enforce, shadow");
    if (!Array.isArray(key)) throw new TypeError(`\`key\` must be an array, found ${describe(key)}`);
    return { name, key, rule, cost, failure, isShadow: mode === "shadow" };
  }

  #rule(name: string, charge: Charge): Rule {
    const known = this.#rules.get(name);
    if (known?.has(charge) === true) return known;
    for (const member of Object.keys(charge)) {
      if (!MEMBERS.includes(member)) throw new TypeError(`a charge has no \`${member}\`, expected one of ${MEMBERS.join(", ")}`);
    }
    checkName(name);
    const rule = new Rule(charge);
    if (this.#rules.size >= MAX_KNOWN_RULES) this.#rules.clear();
    this.#rules.set(name, rule);
    return rule;
  }
}

/** Returns the algorithm and the window, which are part of what a state belongs to, as in names of keys. */
export function kindOf({ algorithm, window }: Rule): string {
  return algorithm.charAt(0) + (window === "month" ? 0 : window);
}

function checkName(name: unknown): void {
  if (typeof name !== "string") throw new TypeError(`\`name\` of a limit must be a string, found ${describe(name)}`);
  const bytes = new TextEncoder().encode(name).length;
  if (bytes === 0 || bytes > MAX_NAME_BYTES || /\p{Surrogate}/u.test(name)) {
    throw new RangeError(`\`name\` of a limit must have 1 to ${MAX_NAME_BYTES} bytes of Unicode, found ${bytes}`);
  }
}

/** Throws if two demands are for one state. */
function checkTwice(demands: readonly Demand[]): void {
  demands.forEach((one, at) => {
    for (const other of demands.slice(at + 1)) {
      if (one.name === other.name && kindOf(one.rule) === kindOf(other.rule) && isSame(one.key, other.key)) {
        throw new RangeError(`expected each limit and key once in a check, found \`${one.name}\` twice`);
      }
    }
  });
}

function isSame(one: Key, other: Key): boolean {
  return one.length === other.length && one.every((part, at) => isSamePart(part, other[at]!));
}

function isSamePart(one: string | Uint8Array, other: string | Uint8Array): boolean {
  if (typeof one === "string" && typeof other === "string") return one === other;
  const [left, right] = [one, other].map((part) => (typeof part === "string" ? new TextEncoder().encode(part) : part)) as [Uint8Array, Uint8Array];
  return left.length === right.length && left.every((byte, at) => byte === right[at]);
}

const MEMBERS: readonly string[] = ["name", "key", "algorithm", "quota", "window", "burst", "cost", "failure", "mode"];
