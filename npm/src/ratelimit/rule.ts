// Rules: checked once, when they are made.

import { describe } from "../base/describe.ts";
import type { Algorithm } from "./algorithm.ts";
import { Fixed } from "./fixed.ts";
import { Gcra } from "./gcra.ts";
import { MAX_BURST_TICKS, MAX_TIME, MAX_TOKENS, MAX_WINDOW, PARTS, TICKS } from "./limits.ts";
import { Sliding } from "./sliding.ts";
import type { Action, Outcome } from "./state.ts";
import { State } from "./state.ts";

/** An algorithm, a quota and a window. */
export interface Terms {
  /**
   * The algorithm; `gcra` if absent.
   *
   * - `gcra`: tokens come back one by one.
   * - `fixed`: a count for each window, aligned to UTC. Around an edge, twice the quota is admitted.
   * - `sliding`: the counts of this window and of the one before, weighted.
   */
  readonly algorithm?: "gcra" | "fixed" | "sliding" | undefined;
  /** The tokens of a window. */
  readonly quota: number;
  /** The window in microseconds; `month`, of the algorithm `fixed` only, is one of the calendar. */
  readonly window: number | "month";
  /** The tokens of a full key, of the algorithm `gcra` only; the quota if absent. */
  readonly burst?: number | undefined;
}

/** The bound that terms exceed; the vectors name it so. */
export type Bound =
  | "burst-too-large"
  | "burst-too-long"
  | "month-not-fixed"
  | "no-burst"
  | "no-quota"
  | "no-window"
  | "quota-not-sliding"
  | "quota-too-large"
  | "too-fast"
  | "window-too-long";

/** Terms that can be computed with: at most 10^12 tokens, 366 days, and one token a microsecond. */
export class Rule {
  readonly algorithm: "gcra" | "fixed" | "sliding";
  readonly quota: number;
  readonly window: number | "month";
  /** The tokens of a full key, which no cost may exceed. */
  readonly capacity: number;
  readonly #counting: Algorithm;
  readonly #scratch = new State();

  /** Makes a rule. Throws a `TypeError` for a wrong kind, and a `RangeError` for a bound that the terms exceed. */
  constructor(terms: Terms) {
    const { algorithm, quota, window, burst } = checkedTerms(terms);
    const exceeded = boundOf({ algorithm, quota, window, burst });
    // Without the key: it is no matter of messages.
    if (exceeded !== undefined) throw new RangeError(`a limit ${EXPECTED[exceeded]}, found ${JSON.stringify({ algorithm, quota, window, burst })}`);
    this.algorithm = algorithm;
    this.quota = quota;
    this.window = window;
    this.#counting = counting(algorithm, quota, window === "month" ? 0 : window, burst);
    this.capacity = this.#counting.capacity;
  }

  /** Returns true if these are the terms of this rule. */
  has({ algorithm = "gcra", quota, window, burst }: Terms): boolean {
    return quota === this.quota && window === this.window && algorithm === this.algorithm &&
      (burst ?? quota) === this.capacity;
  }

  /**
   * Applies an operation to a state at a time in microseconds since 1970, and rewrites the state. A
   * charge that is refused leaves it as it was.
   */
  apply(state: State, now: number, action: Action, cost: number): Outcome {
    const time = now < MAX_TIME ? now : MAX_TIME;
    const view = this.#scratch;
    view.copy(state);
    const rule = this.#counting;
    rule.read(view, time);
    let wait = 0;
    if (action === "charge" || action === "look") {
      wait = this.#waitOf(view, time, cost);
      if (action === "charge" && wait === 0 && cost > 0) this.#add(state, view, time, cost);
    } else if (action === "reset") {
      state.clear();
      return { wait: 0, remaining: this.capacity, reset: 0 };
    } else if (cost > 0) {
      this.#add(state, view, time, -Math.min(cost, this.capacity));
    }
    // A key is full when all of it can be charged.
    return { wait, remaining: rule.remaining(view, time), reset: rule.wait(view, time, this.capacity) };
  }

  #waitOf(view: State, now: number, cost: number): number {
    if (cost > this.capacity) return -1;
    return cost > 0 ? this.#counting.wait(view, now, cost) : 0;
  }

  /** Changes a state and the view of it. */
  #add(state: State, view: State, now: number, cost: number): void {
    this.#counting.add(view, now, cost);
    state.copy(view);
    if (view.end === 0) this.#counting.read(view, now);
  }
}

/** Returns the first bound that terms exceed, whose numbers are whole and not negative. */
export function boundOf({ algorithm = "gcra", quota, window, burst = quota }: Terms): Bound | undefined {
  if (quota === 0) return "no-quota";
  if (quota > MAX_TOKENS) return "quota-too-large";
  if (window === "month") return algorithm === "fixed" ? undefined : "month-not-fixed";
  if (window === 0) return "no-window";
  if (window > MAX_WINDOW) return "window-too-long";
  if (quota > window) return "too-fast";
  if (algorithm === "sliding") return quota < radix(window) ? undefined : "quota-not-sliding";
  if (algorithm === "fixed") return undefined;
  if (burst === 0) return "no-burst";
  if (burst > MAX_TOKENS) return "burst-too-large";
  return burst * interval(quota, window) > MAX_BURST_TICKS ? "burst-too-long" : undefined;
}

function checkedTerms(terms: Terms): Terms & { readonly algorithm: "gcra" | "fixed" | "sliding" } {
  const { algorithm = "gcra", quota, window, burst } = terms;
  whole(quota, "quota");
  if (window !== "month") whole(window, "window");
  if (burst !== undefined) whole(burst, "burst");
  if (!ALGORITHMS.includes(algorithm)) throw new RangeError(`a limit needs one of ${ALGORITHMS.join(", ")}, found ${describe(algorithm)}`);
  if (burst !== undefined && algorithm !== "gcra") throw new RangeError(`\`burst\` is of the algorithm gcra only, found ${algorithm}`);
  return { algorithm, quota, window, burst };
}

/** Throws unless the value is a whole number that is not negative. */
export function whole(value: unknown, name: string): void {
  if (typeof value !== "number") throw new TypeError(`\`${name}\` must be a number, found ${describe(value)}`);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`\`${name}\` must be a whole number from 0 on, found ${value}`);
}

function counting(algorithm: string, quota: number, window: number, burst: number | undefined): Algorithm {
  if (algorithm === "gcra") return new Gcra(interval(quota, window), burst ?? quota);
  return algorithm === "fixed" ? new Fixed(quota, window) : new Sliding(quota, window);
}

/** Returns the ticks of one token, rounded up, which never admits more. */
function interval(quota: number, window: number): number {
  return Math.ceil((window * TICKS) / quota);
}

/** Returns the bound on counts of sliding windows: the root of the parts of a window, rounded down. */
function radix(window: number): number {
  const root = Math.floor(Math.sqrt(window * PARTS));
  return BigInt(root) ** 2n > BigInt(window) * BigInt(PARTS) ? root - 1 : root;
}

const ALGORITHMS: readonly string[] = ["gcra", "fixed", "sliding"];

const EXPECTED: { readonly [bound in Bound]: string } = {
  "burst-too-large": `has a burst of at most ${MAX_TOKENS}`,
  "burst-too-long": "has a burst that comes back within 407 days",
  "month-not-fixed": "of a month has the algorithm `fixed`",
  "no-burst": "has a burst of at least 1",
  "no-quota": "has a quota of at least 1",
  "no-window": "has a window of at least 1 microsecond",
  "quota-not-sliding": "with sliding windows has a smaller quota",
  "quota-too-large": `has a quota of at most ${MAX_TOKENS}`,
  "too-fast": "admits at most 1 token a microsecond",
  "window-too-long": "has a window of at most 366 days",
};
