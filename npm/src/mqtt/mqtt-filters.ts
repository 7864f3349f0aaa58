// Sets of filters with values. The module has the filters, and this file the values.

import { describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import type { MqttInstance } from "./mqtt-abi.ts";
import type { Filters } from "./mqtt-types.ts";

/** A set in an instance of the module. */
interface Lease {
  readonly instance: MqttInstance;
  readonly set: number;
}

export class OpenedFilters<T> implements Filters<T> {
  readonly #start: () => MqttInstance;
  /** Absent until a filter is added, so that a program may make a set before the module is loaded. */
  #lease: Lease | undefined;
  readonly #values: (T | undefined)[] = [];
  /** The numbers that `add` returned, by place; `FREE` for a place without a filter. */
  readonly #ids: number[] = [];
  /** The next number of each free place. */
  readonly #free: number[] = [];
  #size = 0;
  #isDisposed = false;

  constructor(start: () => MqttInstance) {
    this.#start = start;
  }

  get size(): number {
    return this.#size;
  }

  add(filter: string, value: T): number {
    const { instance, set } = this.#opened();
    mustBeText(filter, "a filter");
    const id = this.#free.at(-1) ?? this.#ids.length;
    const place = id % PLACES;
    instance.insert(set, filter, place);
    this.#free.pop();
    this.#values[place] = value;
    this.#ids[place] = id;
    this.#size += 1;
    return id;
  }

  remove(id: number): boolean {
    this.#mustBeOpen();
    if (typeof id !== "number") throw new TypeError(`the number of a filter must be a number, found ${describe(id)}`);
    const place = id % PLACES;
    if (this.#ids[place] !== id) return false;
    const { instance, set } = this.#opened();
    instance.remove(set, place);
    this.#values[place] = undefined;
    this.#ids[place] = FREE;
    this.#size -= 1;
    // A place whose numbers are used up stays free, so that no number comes twice.
    if (Number.isSafeInteger(id + PLACES)) this.#free.push(id + PLACES);
    return true;
  }

  match(name: string): T[] {
    this.#mustBeOpen();
    mustBeText(name, "a topic name");
    const { instance, set } = this.#opened();
    const count = instance.find(set, name);
    const values: T[] = [];
    for (let at = 0; at < count; at += 1) values.push(this.#values[instance.valueAt(at)] as T);
    return values;
  }

  dispose(): void {
    if (this.#lease !== undefined) {
      net?.unregister(this);
      free(this.#lease);
    }
    this.#isDisposed = true;
    this.#lease = undefined;
    this.#size = 0;
    for (const list of [this.#values, this.#ids, this.#free]) list.length = 0;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #mustBeOpen(): void {
    if (this.#isDisposed) throw new WardgateError("disposed", "this set of filters is disposed");
  }

  #opened(): Lease {
    this.#mustBeOpen();
    if (this.#lease?.instance.isLost === true) {
      throw new WardgateError("internal", "the module of MQTT failed, and this set of filters is lost");
    }
    return (this.#lease ??= this.#open());
  }

  #open(): Lease {
    const instance = this.#start();
    // Strangers who know the seed could choose filters that make searches slow.
    const [low, high] = crypto.getRandomValues(new Uint32Array(2));
    const lease = { instance, set: instance.openSet(low!, high!) };
    net?.register(this, lease, this);
    return lease;
  }
}

export function mustBeText(value: unknown, what: string): void {
  if (typeof value !== "string") throw new TypeError(`${what} must be a string, found ${describe(value)}`);
}

// Only a safety net: the memory of a set is freed by `dispose`, or some time after the set becomes
// unreachable. Workers with a compatibility date before May 2025 lack this class.
const net = "FinalizationRegistry" in globalThis ? new FinalizationRegistry<Lease>(free) : undefined;

function free({ instance, set }: Lease): void {
  instance.closeSet(set);
}

/** The most filters of a set. The number of a filter is its place, plus this for each earlier use. */
const PLACES = 2 ** 28;
const FREE = -1;
