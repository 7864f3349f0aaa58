// A pool of workers for large batches: the entry `wardgate/pool`.
//
// Law: an answer is that of `pdp.filter` at the moment of the call, complete, in order and by one
// bundle, or it is an error. The cost of a batch decides where it runs; it does not change the
// answer.

import { describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import type { BundleHeader } from "../pdp/header.ts";
import { runtime } from "../wasm/module.ts";
import { open } from "../pdp/open.ts";
import type { OpenOptions } from "../pdp/options.ts";
import { OpenedPdp } from "../pdp/pdp.ts";
import { Member } from "./pool-member.ts";
import type { Threads } from "./threads.ts";
import type { PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";
import type { BundleArrival } from "../pdp/source.ts";
import type { FilterRequest, Resource } from "../pdp/request-types.ts";
import type { Bundle, Pdp, ReloadOptions } from "../pdp/types.ts";
import type { CompiledModule } from "../base/web.ts";

import { threads } from "#spawn";

/** The options of `createPool`. */
export interface PoolOptions extends Omit<OpenOptions, "log" | "onDecision"> {
  /**
   * The number of workers, from 0 to 64. Default: one less than the number of processors, and at
   * most 8; on runtimes without workers, as at the edge of a network, 0. With 0, batches are
   * decided in place.
   *
   * @example
   *     await createPool(bundle, { trust, size: 4 });
   */
  readonly size?: number | undefined;
}

/** A PDP with workers. */
export interface Pool<P extends PolicyTypes = RegisteredTypes> {
  /**
   * Returns the resources on which the principal may perform the action, in their order.
   *
   * @example
   *     const visible = await pool.filter({ principal, action: "view", resources });
   */
  filter<R extends Resource<P>>(request: FilterRequest<R, P>): Promise<R[]>;
  /**
   * Puts a new bundle into use, for every later batch. If it is refused, the bundle in use stays.
   *
   * @throws WardgateError if the bundle or delta is refused, with a {@link Refusal} as its code.
   */
  reload(bundle: Bundle, options?: ReloadOptions): void;
  /**
   * The PDP in this thread, for all other requests. Reloading it, as a watcher does, reloads the
   * pool.
   */
  readonly pdp: Pdp<P>;
  /** The number of workers that are ready. */
  readonly size: number;
  /** Ends the workers and frees the PDP. Unfinished batches become errors. */
  close(): void;
  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Opens a bundle here and in workers.
 *
 * @throws TypeError, RangeError and WardgateError as `open` does; with the code `not-loaded` if the
 * workers cannot be started.
 *
 * @example
 *     const pool = await createPool(await readFile("album.bundle"), { trust });
 *     const mine = await pool.filter({ principal, action: "view", resources });
 */
export async function createPool<P extends PolicyTypes = RegisteredTypes>(bundle: BundleArrival, options: PoolOptions): Promise<Pool<P>>;
export async function createPool(bundle: BundleArrival, options: PoolOptions): Promise<Pool> {
  return startPool(threads, bundle, options);
}

/** Opens a bundle here and in workers of the given kind. */
export async function startPool(threads: Threads, bundle: BundleArrival, options: PoolOptions): Promise<Pool> {
  const { size, ...opening }: PoolOptions & Pick<OpenOptions, "log" | "onDecision"> = typeof options === "object" && options !== null ? options : ({} as PoolOptions);
  const wanted = readSize(size, threads.count());
  // Workers decide most of it, and have no log.
  if (opening.log !== undefined || opening.onDecision !== undefined) throw new TypeError("a pool takes neither `log` nor `onDecision`");
  const pdp = await open(bundle, opening);
  // `open` returns an instance of this class under a narrower type.
  const pool = new Workers(threads, pdp as OpenedPdp, (await runtime()).module, wanted);
  await pool.started();
  return pool;
}

class Workers implements Pool {
  readonly pdp: OpenedPdp;
  readonly #threads: Threads;
  readonly #code: CompiledModule;
  readonly #members: Member[] = [];
  /** The number of consecutive workers that ended before they were ready. */
  #stillborn = 0;
  #isClosed = false;

  constructor(threads: Threads, pdp: OpenedPdp, code: CompiledModule, size: number) {
    this.#threads = threads;
    this.pdp = pdp;
    this.#code = code;
    // The first listener: when another listener hears of a reload, the workers have been told.
    pdp.onReload(() => {
      const { bytes, now, minRevision } = pdp.accepted;
      for (const member of this.#members) member.reload({ bytes, now, minRevision });
    });
    try {
      for (let count = 0; count < size; count += 1) this.#spawn();
    } catch (cause) {
      throw this.#notStarted(cause);
    }
  }

  get header(): BundleHeader {
    return this.pdp.header;
  }

  get size(): number {
    return this.#members.filter(({ isReady }) => isReady).length;
  }

  /** Waits until all workers are ready. */
  async started(): Promise<void> {
    try {
      await Promise.all(this.#members.map(({ ready }) => ready));
    } catch (cause) {
      throw this.#notStarted(cause);
    }
  }

  async filter<R extends Resource>(request: FilterRequest<R>): Promise<R[]> {
    const resources: unknown = request?.resources;
    if (this.size === 0 || !Array.isArray(resources) || resources.length < SMALLEST) return this.pdp.filter(request);
    const rows = ([] as R[]).concat(resources as R[]);
    const { content } = this.pdp.header;
    const allowed: R[] = [];
    let at = 0;
    while (at < rows.length) {
      const slice = rows.slice(at, at + SLICE);
      const before = performance.now();
      allowed.push(...this.pdp.filter({ ...request, resources: slice }));
      const each = (performance.now() - before) / slice.length;
      at += slice.length;
      // Code of the caller, which reading a resource may run, can have changed the bundle.
      if (this.pdp.header.content !== content) return this.pdp.filter({ ...request, resources: rows });
      if (each < WORTH_COPYING || each * (rows.length - at) < WORTH_WAITING) continue;
      const rest = this.#share({ ...request, resources: rows.slice(at) });
      if (rest !== undefined) return allowed.concat(await rest);
    }
    return allowed;
  }

  reload(bundle: Bundle, options?: ReloadOptions): void {
    this.pdp.reload(bundle, options);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const closed = new WardgateError("disposed", "this pool is closed");
    for (const member of [...this.#members]) member.end(closed);
    this.pdp.dispose();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Lets the workers decide; `undefined` if they cannot, or have too much work. */
  #share<R extends Resource>(request: FilterRequest<R>): Promise<R[]> | undefined {
    const idle = this.#members.filter(({ isReady, load }) => isReady && load < MOST_PARTS);
    if (idle.length === 0) return undefined;
    idle.sort((one, another) => one.load - another.load);
    const { resources } = request;
    const { now, content } = { now: this.pdp.now(), content: this.pdp.header.content };
    const size = Math.max(Math.ceil(resources.length / idle.length), SLICE);
    const parts: Promise<Uint32Array>[] = [];
    try {
      for (let from = 0; from < resources.length; from += size) {
        const part = { ...request, resources: resources.slice(from, from + size) };
        parts.push(idle[parts.length]!.filter(part, now, content));
      }
    } catch {
      // A function, for example, cannot be cloned. The PDP here decides the batch, or throws its
      // own error.
      for (const part of parts) part.catch(() => {});
      return undefined;
    }
    return joined(resources, size, parts);
  }

  #spawn(): void {
    const member: Member = new Member(this.#threads, { ...this.pdp.accepted, code: this.#code }, () => this.#ended(member));
    this.#members.push(member);
    member.ready.then(
      () => (this.#stillborn = 0),
      () => {},
    );
  }

  /** Replaces a worker that has ended. */
  #ended(member: Member): void {
    const wasReady = member.wasReady;
    this.#members.splice(this.#members.indexOf(member), 1);
    if (this.#isClosed) return;
    this.#stillborn = wasReady ? 0 : this.#stillborn + 1;
    if (this.#stillborn >= MOST_STILLBORN) return;
    try {
      this.#spawn();
    } catch {
      // Then there is one worker less, and the PDP here decides the rest.
    }
  }

  #notStarted(cause: unknown): WardgateError {
    this.close();
    return new WardgateError("not-loaded", "the workers of the pool cannot be started", { cause });
  }
}

/**
 * Joins the parts in their order. Of several errors it throws the first in order, as `filter` does.
 */
async function joined<R>(rows: readonly R[], size: number, parts: readonly Promise<Uint32Array>[]): Promise<R[]> {
  const settled = await Promise.allSettled(parts);
  const allowed: R[] = [];
  for (const [index, part] of settled.entries()) {
    if (part.status === "rejected") throw part.reason;
    for (const [at, row] of rows.slice(index * size, (index + 1) * size).entries()) {
      if ((part.value[at >>> 5]! >>> (at & 31)) & 1) allowed.push(row);
    }
  }
  return allowed;
}

function readSize(size: unknown, processors: number): number {
  if (size === undefined) return processors === 0 ? 0 : Math.min(Math.max(processors - 1, 1), 8);
  if (typeof size !== "number") throw new TypeError(`option \`size\` must be a number, found ${describe(size)}`);
  if (!Number.isInteger(size) || size < 0 || size > MOST_WORKERS) {
    throw new RangeError(`option \`size\` must be a whole number from 0 to ${MOST_WORKERS}, found ${size}`);
  }
  if (size > 0 && processors === 0) throw new RangeError("option `size` must be 0 in this runtime, which has no workers");
  return size;
}

/** Smaller batches are decided here. */
const SMALLEST = 256;
/** The number of resources between two measurements of the cost. */
const SLICE = 128;
/**
 * Milliseconds for one resource. A copy costs 0.002 on either side; resources that cost little more
 * are faster here.
 */
const WORTH_COPYING = 0.005;
/**
 * Milliseconds for the rest of a batch. A shorter rest is not faster with two workers: see
 * `docs/pool.md`.
 */
const WORTH_WAITING = 10;
/** The largest number of parts that wait for one worker. Further batches are decided here. */
const MOST_PARTS = 16;
const MOST_WORKERS = 64;
/**
 * The largest number of consecutive workers that may end before they are ready; then no more are
 * started.
 */
const MOST_STILLBORN = 8;
