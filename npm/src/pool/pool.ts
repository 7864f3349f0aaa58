// Workers that share big batches: the entry `wardgate/pool`.
//
// Law: an answer is that of `pdp.filter` at the moment of the call, complete, in order and by one bundle, or it is
// an error. Where it is decided depends on what it costs; what the answer is does not.

import { describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import type { BundleHeader } from "../pdp/header.ts";
import { runtime } from "../wasm/module.ts";
import { open } from "../pdp/open.ts";
import type { OpenOptions } from "../pdp/options.ts";
import { OpenedPdp } from "../pdp/pdp.ts";
import { Member } from "./pool-member.ts";
import type { Threads } from "./threads.ts";
import type { Bundle, BundleSource, FilterRequest, Pdp, ReloadOptions, Resource } from "../pdp/types.ts";
import type { CompiledModule } from "../base/web.ts";

import { threads } from "#spawn";

/** How to open a bundle, and how many workers shall know it. */
export interface PoolOptions extends OpenOptions {
  /**
   * How many workers: from 0 to 64, one less than the machine has processors unless given, and at most 8. Where there
   * are no workers, as at the edge of a network, there are none unless given, and everything is decided here.
   */
  readonly size?: number | undefined;
}

/** A PDP with workers. */
export interface Pool {
  /** Returns the resources on which the principal may perform the action, in their order. */
  filter<R extends Resource>(request: FilterRequest<R>): Promise<R[]>;
  /**
   * Takes a new bundle into use, for every batch after this one; when it is refused, the one in use stays.
   *
   * @throws WardgateError when the bundle or delta is refused; its code is a {@link Refusal} and says why.
   */
  reload(bundle: Bundle, options?: ReloadOptions): void;
  /** The PDP in this thread, for everything else. What reloads it, such as a watcher, reloads the pool. */
  readonly pdp: Pdp;
  /** How many workers can decide at the moment. */
  readonly size: number;
  /** Ends the workers and frees the PDP. Batches that are under way become errors. */
  close(): void;
  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Opens a bundle here and in workers.
 *
 * @throws TypeError, RangeError and WardgateError as `open` does; with the code `not-loaded` when the workers cannot be
 * started.
 *
 * @example
 *     const pool = await createPool(await readFile("album.bundle"), { trust });
 *     const mine = await pool.filter({ principal, action: "view", resources });
 */
export async function createPool(bundle: BundleSource, options: PoolOptions): Promise<Pool> {
  return startPool(threads, bundle, options);
}

/** The same with workers of another kind. */
export async function startPool(threads: Threads, bundle: BundleSource, options: PoolOptions): Promise<Pool> {
  const { size, ...opening } = typeof options === "object" && options !== null ? options : ({} as PoolOptions);
  const wanted = readSize(size, threads.count());
  const pdp = await open(bundle, opening);
  // The PDP that `open` returned is one of these; its interface says less.
  const pool = new Workers(threads, pdp as OpenedPdp, (await runtime()).module, wanted);
  await pool.started();
  return pool;
}

class Workers implements Pool {
  readonly pdp: OpenedPdp;
  readonly #threads: Threads;
  readonly #code: CompiledModule;
  readonly #members: Member[] = [];
  /** Workers in a row that ended before they could decide. */
  #stillborn = 0;
  #isClosed = false;

  constructor(threads: Threads, pdp: OpenedPdp, code: CompiledModule, size: number) {
    this.#threads = threads;
    this.pdp = pdp;
    this.#code = code;
    // Before anybody else can listen: who hears of a reload finds the workers told of it.
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

  /** Waits until all workers can decide. */
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

  /** Has the workers decide; `undefined` where they cannot, or have too much to do. */
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
      // A function or the like cannot be copied. Here it can be decided on, or is an error of its own.
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

  /** Puts another one in the place of a worker that has ended. */
  #ended(member: Member): void {
    const wasReady = member.wasReady;
    this.#members.splice(this.#members.indexOf(member), 1);
    if (this.#isClosed) return;
    this.#stillborn = wasReady ? 0 : this.#stillborn + 1;
    if (this.#stillborn >= MOST_STILLBORN) return;
    try {
      this.#spawn();
    } catch {
      // Then there is one less, and everything else is decided here.
    }
  }

  #notStarted(cause: unknown): WardgateError {
    this.close();
    return new WardgateError("not-loaded", "the workers of the pool cannot be started", { cause });
  }
}

/** Puts the parts together, when all of them are there. Of several errors it throws the first in order, as `filter` does. */
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
/** So many resources are decided between two looks at what they cost. */
const SLICE = 128;
/** Milliseconds for one resource. A copy costs 0.002 on either side: what costs little more is decided sooner. */
const WORTH_COPYING = 0.005;
/** Milliseconds for what is left of a batch. What takes less, two workers decide no sooner: see `docs/pool.md`. */
const WORTH_WAITING = 10;
/** So many parts may wait for one worker. Who asks for more decides it himself, and asks less. */
const MOST_PARTS = 16;
const MOST_WORKERS = 64;
/** So many workers in a row may end before they decide; then no more are started. */
const MOST_STILLBORN = 8;
