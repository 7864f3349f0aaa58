// The decisions that wait for a flush: references and numbers in arrays that are made once.
//
// Law: `put` allocates nothing, makes no text and no record. The strings of a request cannot change, so references
// suffice.

import type { DecisionWriter } from "../pdp/recording.ts";
import type { BundleHeader } from "../pdp/header.ts";

/** Policies that came into force. */
export interface PoliciesInForce {
  readonly number: number;
  readonly header: BundleHeader;
  /** The time in milliseconds since 1970. */
  readonly time: number;
}

/** The entries of a log, in their order. */
export class LogBuffer {
  readonly capacity: number;
  readonly denies: boolean;
  /** The number of entries. */
  count = 0;
  /** The number of decisions and searches among them, and of those after them that found no room. */
  records = 0;
  lost = 0;
  /** The references of each entry: see `REFERENCES`. */
  readonly references: unknown[];
  /** The time of each entry in milliseconds since 1970, and the number of its policies. */
  readonly times: Float64Array;
  readonly policies: Uint32Array;
  /** The outcome of each entry, or `SEARCH`. */
  readonly outcomes: Uint8Array;
  /** Of a search, how many were asked, and how many are allowed. */
  readonly asked: Uint32Array;
  readonly allowed: Uint32Array;
  /** Policies for which no record was written. */
  undefinedPolicies: PoliciesInForce[] = [];
  #policiesGiven = 0;
  /** Called with the first entry, and with the one that fills half of the room. */
  readonly #wake: (isHalfFull: boolean) => void;

  constructor(capacity: number, denies: boolean, wake: (isHalfFull: boolean) => void) {
    this.capacity = capacity;
    this.denies = denies;
    this.#wake = wake;
    this.references = new Array<unknown>(capacity * REFERENCES).fill(undefined);
    this.times = new Float64Array(capacity);
    this.policies = new Uint32Array(capacity);
    this.outcomes = new Uint8Array(capacity);
    this.asked = new Uint32Array(capacity);
    this.allowed = new Uint32Array(capacity);
  }

  /** Returns the next number of policies. */
  givePolicies(): number {
    this.#policiesGiven += 1;
    return this.#policiesGiven;
  }

  wake(): void {
    this.#wake(this.count > 1);
  }

  /** Forgets the entries. */
  clear(): void {
    this.references.fill(undefined, 0, this.count * REFERENCES);
    this.count = this.records = this.lost = 0;
  }
}

/** Writes the decisions of one PDP. */
export class BufferWriter implements DecisionWriter {
  readonly #buffer: LogBuffer;
  readonly #clock: () => number;
  #policies = 0;
  /** False if the decision found no room. */
  #hasRoom = false;
  #time = 0;
  /** The number of entries for which the time counts. */
  #timed = 0;
  /** True while the end of this turn is to forget the time. */
  #isForgetting = false;
  readonly #forgetTime = (): void => {
    this.#timed = 0;
    this.#isForgetting = false;
  };

  constructor(buffer: LogBuffer, clock: () => number) {
    this.#buffer = buffer;
    this.#clock = clock;
  }

  begin(header: BundleHeader): void {
    const number = this.#buffer.givePolicies();
    this.#policies = number;
    this.#buffer.undefinedPolicies.push({ number, header, time: this.#clock() });
  }

  reserve(entries: number): boolean {
    const buffer = this.#buffer;
    if (buffer.lost === 0 && buffer.count + entries <= buffer.capacity) {
      buffer.records += 1;
      return (this.#hasRoom = true);
    }
    buffer.lost += 1;
    this.#hasRoom = false;
    return !buffer.denies;
  }

  put(kind: string, version: string | undefined, scope: string | undefined, action: string, id: string, principal: string, requestId: string | undefined, outcome: number): void {
    if (!this.#hasRoom) return;
    const { references, count } = this.#buffer;
    const at = count * REFERENCES;
    references[at] = kind;
    references[at + 1] = version;
    references[at + 2] = scope;
    references[at + 3] = action;
    references[at + 4] = id;
    references[at + 5] = principal;
    references[at + 6] = requestId;
    this.#finish(count, outcome);
  }

  search(kind: string, version: string | undefined, scope: string | undefined, action: string, asked: number, allowed: number): void {
    if (!this.#hasRoom) return;
    const { count } = this.#buffer;
    this.#buffer.asked[count] = asked;
    this.#buffer.allowed[count] = allowed;
    this.put(kind, version, scope, action, "", "", undefined, SEARCH);
  }

  #finish(count: number, outcome: number): void {
    const buffer = this.#buffer;
    // A clock takes longer than all else: in one turn of the event loop, it is read once for some decisions.
    if (this.#timed === 0) this.#readTime();
    this.#timed -= 1;
    buffer.times[count] = this.#time;
    buffer.policies[count] = this.#policies;
    buffer.outcomes[count] = outcome;
    buffer.count = count + 1;
    if (count === 0 || count === buffer.capacity >>> 1) buffer.wake();
  }

  #readTime(): void {
    this.#time = this.#clock();
    this.#timed = DECISIONS_OF_A_TIME;
    if (this.#isForgetting) return;
    this.#isForgetting = true;
    queueMicrotask(this.#forgetTime);
  }
}

/** The references of an entry: kind, version, scope, action, ids of the resource, of the principal and of the request. */
export const REFERENCES = 7;
/** The outcome of a search. */
export const SEARCH = 8;
const DECISIONS_OF_A_TIME = 64;
