// A Durable Object for one key: the states of its limits, in memory and, for windows of more than a minute,
// in one stored value.
//
// The object does one thing at a time, so that a charge takes all costs or none. A short window is over
// before an object that was moved is missed: its state is in memory only. What is stored goes by the alarm.

import { steady } from "./clock.ts";
import { MAX_CALL_BYTES, MAX_CHARGES, MAX_STATES, MEMORY_WINDOW } from "./limits.ts";
import { Rule, type Terms } from "./rule.ts";
import { State, type Action, type Outcome } from "./state.ts";

/** The part of the state of a Durable Object that is used. */
export interface ObjectState {
  /** What the object has stored. */
  readonly storage: {
    get(key: string): Promise<unknown>;
    put(key: string, value: unknown): Promise<void>;
    deleteAll(): Promise<void>;
    setAlarm(time: number): Promise<void>;
  };
  /** Lets events wait until something is done. */
  blockConcurrencyWhile<A>(todo: () => Promise<A>): Promise<A>;
}

/** One limit of a call: its algorithm, window and name, which a state belongs to, its terms, and a cost. */
export interface LimitCall extends Terms {
  readonly id: string;
  readonly cost: number;
  /** The time in microseconds from which a refund does nothing, of one that returns a charge. */
  readonly before?: number;
}

/** What is stored: for each limit its id and the numbers of its state. */
type Stored = readonly (readonly [id: string, end: number, high: number, low: number])[];

/** The state of one limit, and whether it is stored. */
interface LimitState {
  readonly state: State;
  readonly isStored: boolean;
}

/**
 * The class of the objects that {@link durable} calls. A worker exports it under the name of its binding,
 * and nothing else calls it: it believes what it is told.
 */
export class LimitObject {
  readonly #storage: ObjectState["storage"];
  readonly #now = steady();
  readonly #kept = new Map<string, LimitState>();
  /** The time of the alarm in milliseconds, as far as it is known. */
  #alarmAt = 0;

  constructor(state: ObjectState, _env?: unknown) {
    this.#storage = state.storage;
    void state.blockConcurrencyWhile(() => this.#load());
  }

  /** Does one thing for the limits of a call, and answers with three numbers for each, and the time. */
  async fetch(request: Request): Promise<Response> {
    const text = await request.text();
    if (text.length > MAX_CALL_BYTES) return new Response("too long", { status: 413 });
    const [action, ...calls] = JSON.parse(text) as [Action, ...LimitCall[]];
    if (!ACTIONS.includes(action) || calls.length === 0 || calls.length > MAX_CHARGES) return new Response("no call", { status: 400 });
    const now = this.#now();
    const outcomes = this.#run(now, action, calls.map((call) => ({ ...call, rule: new Rule({ ...call }) })));
    if (action !== "look") await this.#store();
    return Response.json(outcomes.flatMap(({ wait, remaining, reset }) => [wait, remaining, reset]).concat(now));
  }

  /** Forgets what is over. */
  async alarm(): Promise<void> {
    this.#alarmAt = 0;
    this.#sweep();
    if ([...this.#kept.values()].some(({ isStored }) => isStored)) await this.#store();
    else await this.#storage.deleteAll();
  }

  #run(now: number, action: Action, calls: readonly (LimitCall & { readonly rule: Rule })[]): readonly Outcome[] {
    const each = (what: Action): readonly Outcome[] =>
      calls.map(({ id, rule, cost, before = Infinity }) => this.#apply(now, now < before ? what : "look", id, rule, cost));
    if (action !== "charge") return each(action);
    this.#makeRoom(calls);
    const looks = each("look");
    return looks.every(({ wait }) => wait === 0) ? each("charge") : looks;
  }

  #apply(now: number, action: Action, id: string, rule: Rule, cost: number): Outcome {
    const kept = this.#kept.get(id) ?? { state: new State(), isStored: rule.window === "month" || rule.window > MEMORY_WINDOW };
    const outcome = rule.apply(kept.state, now, action, cost);
    if (kept.state.end === 0) this.#kept.delete(id);
    else if (action !== "look") this.#kept.set(id, kept);
    return outcome;
  }

  /** Throws if there is no room for the states of a charge: the check fails, and nothing was done. */
  #makeRoom(calls: readonly LimitCall[]): void {
    const isFull = (): boolean => this.#kept.size + calls.filter(({ id }) => !this.#kept.has(id)).length > MAX_STATES;
    if (!isFull()) return;
    this.#sweep();
    // A policy has fewer limits for a key.
    if (isFull()) throw new RangeError(`expected at most ${MAX_STATES} limits for a key`);
  }

  #sweep(): void {
    const now = this.#now();
    for (const [id, { state }] of this.#kept) if (state.end <= now) this.#kept.delete(id);
  }

  async #load(): Promise<void> {
    const stored = (await this.#storage.get(STATES)) as Stored | undefined;
    for (const [id, end, high, low] of stored ?? []) {
      const state = new State();
      Object.assign(state, { end, high, low });
      this.#kept.set(id, { state, isStored: true });
    }
  }

  /** Stores the states of long windows. The answer of this call waits until they are. */
  async #store(): Promise<void> {
    const long = [...this.#kept].filter(([, { isStored }]) => isStored);
    if (long.length === 0 && this.#alarmAt === 0) return;
    const stored: Stored = long.map(([id, { state: { end, high, low } }]) => [id, end, high, low]);
    await this.#storage.put(STATES, stored);
    if (this.#alarmAt !== 0) return;
    const last = Math.max(...long.map(([, { state }]) => state.end));
    this.#alarmAt = Math.ceil(last / 1000) + 1;
    await this.#storage.setAlarm(this.#alarmAt);
  }
}

const ACTIONS: readonly string[] = ["charge", "look", "refund", "reset"];

/** The key of the one stored value. */
const STATES = "states";
