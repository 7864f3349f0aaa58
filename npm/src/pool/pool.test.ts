// A pool whose workers run in this thread: they receive copies, answer asynchronously, and end on
// command. The test sets the time, so that it knows which thread decides.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { openSync } from "../pdp/open.ts";
import type { FromWorker, ToWorker } from "./pool-messages.ts";
import { PoolExecutor } from "./pool-executor.ts";
import { startPool, type Pool, type PoolOptions } from "./pool.ts";
import { album, atNoon, closed, jwk, noon, ofCode, openAlbum, releaseKey as trust, signed, trustFile } from "../testing.ts";
import type { SecretJwk } from "../pdp/keys.ts";
import type { ThreadEvents, Thread, Threads } from "./threads.ts";
import type { FilterRequest, Resource } from "../pdp/request-types.ts";

/** A worker without a thread. */
class Double implements Thread {
  readonly events: ThreadEvents;
  readonly received: ToWorker[] = [];
  keepsRunning = true;
  isEnded = false;
  /** A hook that changes its answers. */
  change: (answer: FromWorker) => FromWorker = (answer) => answer;
  readonly #work: PoolExecutor;

  constructor(events: ThreadEvents) {
    this.events = events;
    this.#work = new PoolExecutor((answer) => setImmediate(() => this.isEnded || events.message(structuredClone(this.change(answer)))));
  }

  post(message: ToWorker): void {
    this.received.push(structuredClone(message));
    void this.#work.receive(this.received.at(-1)!);
  }

  terminate(): void {
    this.isEnded = true;
  }

  hold(isBusy: boolean): void {
    this.keepsRunning = isBusy;
  }

  /** The number of parts of batches that it has received. */
  get parts(): number {
    return this.received.filter(({ kind }) => kind === "filter").length;
  }
}

let doubles: Double[];
let spawn: (events: ThreadEvents) => Thread;
const threads: Threads = { count: () => 3, spawn: (events) => spawn(events) };
let pool: Pool;
/** The milliseconds between two readings of the clock. */
let pace: number;

beforeEach(() => {
  [doubles, pace] = [[], 100];
  spawn = (events) => doubling(events);
  let time = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (time += pace));
});
afterEach(() => {
  pool.close();
  vi.restoreAllMocks();
});

/** Starts a worker without a thread, after `change`. */
function doubling(events: ThreadEvents, change: (double: Double) => void = () => {}): Double {
  const double = new Double(events);
  change(double);
  doubles.push(double);
  return double;
}

async function start(options: Partial<PoolOptions> = {}, bundle: Uint8Array = album): Promise<Pool> {
  return (pool = await startPool(threads, bundle, { ...atNoon, ...options }));
}

const principal = { id: "ada", roles: ["user"] };

/** Returns albums of which every third is hers; for some of them the fast path is unsure. */
function albums(count: number): Resource[] {
  return Array.from({ length: count }, (_, at) => {
    const attr = { owner: at % 3 === 0 ? "ada" : `u${at}` };
    return { kind: "album", id: `a${at}`, attr: at % 5 === 0 ? (new Map(Object.entries(attr)) as never) : attr };
  });
}

function editing(resources: Resource[], action = "edit"): FilterRequest<Resource> {
  return { principal, action, resources };
}

/** Returns the outcome of a batch: the resources, or the message of the error. */
async function outcome(batch: Promise<unknown>): Promise<unknown> {
  return batch.catch((error: Error & { readonly code?: string }) => `${error.code ?? error.name}: ${error.message}`);
}

/** Waits until a condition is true. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}

const parts = (): number => doubles.reduce((sum, double) => sum + double.parts, 0);

describe("a batch", () => {
  it.each([0, 1, 255, 256, 257, 300, 1000, 5000])("of %s is answered like filter, with the same objects", async (count) => {
    const resources = albums(count);
    const expected = (await openAlbum()).filter(editing(resources));
    for (const size of [0, 1, 2, 3]) {
      await start({ size });
      const found = await pool.filter(editing(resources));
      expect(found).toHaveLength(expected.length);
      expect(found.every((one, at) => one === expected[at])).toBe(true);
      expect([pool.size, parts() > 0]).toEqual([size, size > 0 && count >= 256]);
      pool.close();
      doubles = [];
    }
  });

  it("is divided among all workers, unless it is small", async () => {
    await start({ size: 3 });
    await pool.filter(editing(albums(3128)));
    expect(doubles.map(({ parts }) => parts)).toEqual([1, 1, 1]);
    await pool.filter(editing(albums(128 + 129)));
    expect(parts()).toBe(5);
  });

  it("stays in this thread if that is faster", async () => {
    await start();
    pace = 0;
    expect(await pool.filter(editing(albums(10_000)))).toHaveLength(3334);
    expect([parts(), pool.size]).toEqual([0, 2]);
  });

  it("is a copy, so that later changes of the caller have no effect", async () => {
    await start();
    const resources = albums(1000);
    const batch = pool.filter(editing(resources));
    for (const one of resources) (one as { kind: string }).kind = "safe";
    resources.length = 0;
    expect(await batch).toHaveLength(334);
    expect(parts()).toBe(2);
  });

  it("stays in this thread if it cannot be cloned", async () => {
    await start();
    const resources = albums(1000);
    resources[901] = { kind: "album", id: "a901", attr: { owner: "bo", note: (() => {}) as never } };
    expect(await pool.filter(editing(resources))).toHaveLength(334);
    const proxies = resources.map((one) => new Proxy(one, {}));
    expect(await pool.filter(editing(proxies))).toHaveLength(334);
  });

  it("has one time", async () => {
    let hours = 0;
    await start({ clock: () => noon + hours * 3_600_000 });
    expect(await pool.filter(editing(albums(1000), "share"))).toHaveLength(1000);
    hours = 13;
    expect(await pool.filter(editing(albums(1000), "share"))).toHaveLength(0);
  });

  it.each([10, 300, 900])("with something at %s that is no resource is the error of filter", async (at) => {
    await start();
    for (const invalid of [undefined, 7, {}, { kind: "album" }, { kind: "album", id: 7 }, { kind: "album", id: "a", attr: 7 }]) {
      const resources = albums(1000);
      resources[at] = invalid as Resource;
      resources[990] = { kind: 8 } as never;
      const expected = await outcome((async () => pool.pdp.filter(editing(resources)))());
      expect(await outcome(pool.filter(editing(resources)))).toBe(expected);
    }
  });

  it("that is none is the error of filter", async () => {
    await start();
    for (const invalid of [undefined, null, 7, {}, { principal, action: "edit" }, { ...editing(albums(300)), extra: 1 }, editing("x" as never)]) {
      const expected = await outcome((async () => pool.pdp.filter(invalid as never))());
      expect(await outcome(pool.filter(invalid as never))).toBe(expected);
    }
    const broken = { ...editing(albums(300)), principal: { id: 7, roles: ["user"] } as never };
    expect(await outcome(pool.filter(broken))).toContain("TypeError");
  });

  it("stays in this thread if every worker is busy", async () => {
    await start({ size: 1 });
    const batches = Array.from({ length: 20 }, () => pool.filter(editing(albums(300))));
    expect(doubles[0]!.parts).toBe(16);
    for (const batch of batches) expect(await batch).toHaveLength(100);
  });
});

describe("a worker that ends", () => {
  const ended = "internal: a worker of the pool ended; no decision was made";

  it("rejects its parts, and is replaced", async () => {
    await start();
    const [first, second] = doubles;
    const batches = [pool.filter(editing(albums(1000))), pool.filter(editing(albums(1000)))];
    first!.events.end(new Error("out of memory"));
    expect(await Promise.all(batches.map(outcome))).toEqual([ended, ended]);
    expect([first!.isEnded, second!.isEnded, doubles.length]).toEqual([true, false, 3]);
    await until(() => pool.size === 2);
    expect(await pool.filter(editing(albums(1000)))).toHaveLength(334);
    expect(doubles[2]!.parts).toBe(1);
  });

  it("is replaced by one with the bundle in use", async () => {
    await start();
    pool.reload(closed);
    doubles[0]!.events.end(new Error());
    await until(() => pool.size === 2);
    expect(await pool.filter(editing(albums(1000)))).toEqual([]);
    expect(doubles[2]!.parts).toBe(1);
  });

  it("is not replaced for ever, and the PDP of this thread decides", async () => {
    await start();
    const dying = vi.fn((events: ThreadEvents) => {
      const double = new Double(events);
      setImmediate(() => events.end(new Error("no memory")));
      return double;
    });
    spawn = dying;
    for (const double of doubles) double.events.end(new Error());
    await until(() => dying.mock.calls.length >= 8);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    expect([dying.mock.calls.length, pool.size]).toEqual([9, 0]);
    expect(await pool.filter(editing(albums(1000)))).toHaveLength(334);
  });

  it("is not needed if no other can be started", async () => {
    await start({ size: 1 });
    spawn = () => { throw new Error("no more threads"); };
    doubles[0]!.events.end(new Error());
    expect([pool.size, await pool.filter(editing(albums(1000)))]).toMatchObject([0, { length: 334 }]);
  });

  it("may have sent an incomplete answer, or one to an unknown part", async () => {
    await start({ size: 1 });
    const [double] = doubles;
    double!.change = (answer) => (answer.kind === "answer" ? { ...answer, allowed: answer.allowed.slice(1) } : answer);
    expect(await outcome(pool.filter(editing(albums(1000))))).toBe("internal: a worker of the pool gave an incomplete answer");
    double!.change = (answer) => answer;
    double!.events.message({ kind: "answer", id: 99, allowed: new Uint32Array(1) } satisfies FromWorker);
    expect(await pool.filter(editing(albums(1000)))).toHaveLength(334);
  });
});

describe("reloading a pool", () => {
  it("separates the batches before from those after it", async () => {
    await start();
    const before = pool.filter(editing(albums(1000)));
    pool.reload(closed);
    const after = pool.filter(editing(albums(1000)));
    expect([await before, await after]).toMatchObject([{ length: 334 }, { length: 0 }]);
    expect(parts()).toBe(4);
  });

  it("may be done through its PDP, and is done before other listeners are called", async () => {
    await start();
    const events: Promise<Resource[]>[] = [];
    pool.pdp.onReload(() => events.push(pool.filter(editing(albums(1000)))));
    pool.pdp.reload(closed);
    expect(await events[0]).toEqual([]);
    expect(parts()).toBe(2);
  });

  it("keeps the last good bundle everywhere", async () => {
    await start();
    expect(() => pool.reload(new Uint8Array(9))).toThrow(ofCode("not-a-bundle"));
    expect(await pool.filter(editing(albums(1000)))).toHaveLength(334);
  });

  it("takes signed bundles and deltas, sealed or not, which the workers verify themselves", async () => {
    const unsealKey = jwk<SecretJwk>("host");
    for (const [bundle, delta, key] of [[signed, "next.delta", {}], [trustFile("sealed.bundle"), "sealed.delta", { unsealKey }]] as const) {
      await start({ trust, name: "album", ...key }, bundle);
      expect(await pool.filter(editing(albums(1000)))).toHaveLength(334);
      pool.reload(trustFile(delta));
      expect([await pool.filter(editing(albums(1000))), pool.pdp.header.revision, pool.size]).toEqual([[], 8, 2]);
      expect(JSON.stringify(doubles.map(({ received }) => received))).not.toContain("unsealKey");
      pool.close();
    }
  });

  it("replaces a worker that cannot follow", async () => {
    await start();
    doubles[0]!.change = (answer) =>
      answer.kind === "ready" ? { kind: "broken", error: { name: "Error", message: "no room", code: "internal" } } : answer;
    pool.reload(closed);
    expect(await outcome(pool.filter(editing(albums(1000))))).toBe("internal: no room");
    await until(() => pool.size === 2);
    expect([await pool.filter(editing(albums(1000))), doubles.length]).toEqual([[], 3]);
  });

  it("in the middle of reading a batch leaves no answer of two bundles", async () => {
    await start();
    const resources = albums(1000);
    const attr = { get owner() { pool.reload(closed); return "ada"; } };
    resources[3] = { kind: "album", id: "a3", attr };
    expect(await pool.filter(editing(resources))).toEqual([]);
  });
});

describe("closing a pool", () => {
  it("ends its workers and makes errors of its batches", async () => {
    await start();
    const batch = pool.filter(editing(albums(1000)));
    pool.close();
    pool[Symbol.dispose]();
    expect(await outcome(batch)).toBe("disposed: this pool is closed");
    expect(await outcome(pool.filter(editing(albums(1000))))).toContain("disposed");
    expect([doubles.map(({ isEnded }) => isEnded), pool.size]).toEqual([[true, true], 0]);
  });

  it("is not needed for the program to end", async () => {
    await start({ size: 1 });
    const [double] = doubles;
    expect(double!.keepsRunning).toBe(false);
    const batch = pool.filter(editing(albums(1000)));
    expect(double!.keepsRunning).toBe(true);
    await batch;
    expect(double!.keepsRunning).toBe(false);
  });
});

describe("starting a pool", () => {
  const begin = async (options: object): Promise<unknown> => outcome(startPool(threads, album, options as PoolOptions));

  it("takes a useful number of workers", async () => {
    expect((await start()).size).toBe(2);
    pool.close();
    for (const [processors, size] of [[1, 1], [2, 1], [64, 8], [0, 0]] as const) {
      const some = await startPool({ ...threads, count: () => processors }, album, { trust: "unsigned" });
      expect(some.size).toBe(size);
      some.close();
    }
  });

  it("refuses invalid options", async () => {
    expect(await begin({ trust: "unsigned", size: "2" })).toBe("TypeError: option `size` must be a number, found string");
    expect(await begin({ trust: "unsigned", size: 65 })).toBe("RangeError: option `size` must be a whole number from 0 to 64, found 65");
    expect(await begin({ size: 1 })).toContain("no-trust: ");
    expect(await begin({ trust: "unsigned", sizes: 1 })).toContain("unknown option `sizes`");
    expect(await outcome(startPool(threads, album, undefined as never))).toContain("no-trust: ");
    expect(await outcome(startPool({ ...threads, count: () => 0 }, album, { trust: "unsigned", size: 1 }))).toContain("has no workers");
    expect(doubles).toEqual([]);
  });

  it("throws if workers cannot be started, and leaves none", async () => {
    spawn = () => { throw new Error("forbidden"); };
    expect(await begin({ trust: "unsigned" })).toBe("not-loaded: the workers of the pool cannot be started");
    const broken = { kind: "broken", error: { name: "Error", message: "no code", code: "not-loaded" } } as const;
    spawn = (events) => doubling(events, (double) => (double.change = () => broken));
    expect(await begin({ trust: "unsigned" })).toBe("not-loaded: the workers of the pool cannot be started");
    expect(doubles.every(({ isEnded }) => isEnded)).toBe(true);
  });

  it("lets workers load the code themselves if it cannot be cloned", async () => {
    spawn = (events) => doubling(events, (double) => {
      const post = double.post.bind(double);
      double.post = (message) => {
        if (message.kind === "open" && message.opening.code !== undefined) throw new Error("cannot be cloned");
        post(message);
      };
    });
    expect((await start({ size: 1 })).size).toBe(1);
  });

  it("has a PDP like any other", async () => {
    await start();
    expect(pool.pdp.header).toEqual(openSync(album, { trust: "unsigned" }).header);
  });
});
