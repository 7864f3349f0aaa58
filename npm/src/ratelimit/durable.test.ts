// The store in Durable Objects, over objects in this process. The tests of the edge worker have real ones.

import { afterEach, describe, expect, it, vi } from "vitest";

import { DemandReader, type Charge } from "./demand.ts";
import { durable, type LimitNamespace } from "./durable.ts";
import { LimitObject, type ObjectState } from "./limit-object.ts";
import type { Action } from "./state.ts";
import type { Away } from "./store.ts";
import { charge, MINUTE } from "./testing-limits.ts";

const HOUR = 60 * MINUTE;

/** The storage of one object, which outlives it. */
class Disk implements ObjectState {
  readonly values = new Map<string, unknown>();
  alarm: number | undefined;
  puts = 0;

  readonly storage = {
    get: async (key: string) => structuredClone(this.values.get(key)),
    put: async (key: string, value: unknown) => {
      this.puts += 1;
      this.values.set(key, structuredClone(value));
    },
    deleteAll: async () => this.values.clear(),
    setAlarm: async (time: number) => {
      this.alarm = time;
    },
  };

  async blockConcurrencyWhile<A>(todo: () => Promise<A>): Promise<A> {
    return todo();
  }
}

/** Objects by their names. */
class Objects implements LimitNamespace<string> {
  readonly disks = new Map<string, Disk>();
  readonly broken = new Set<string>();
  readonly #objects = new Map<string, LimitObject>();

  idFromName(name: string): string {
    return name;
  }

  get(name: string) {
    return {
      fetch: async (address: string, init: { method: string; body: string }) => {
        if (this.broken.has(name)) throw new Error("Durable Object reset");
        return this.object(name).fetch(new Request(address, init));
      },
    };
  }

  object(name: string): LimitObject {
    const disk = this.disks.get(name) ?? new Disk();
    const object = this.#objects.get(name) ?? new LimitObject(disk);
    this.disks.set(name, disk);
    this.#objects.set(name, object);
    return object;
  }

  /** Ends all objects, as the platform does with those that have nothing to do. */
  evict(): void {
    this.#objects.clear();
  }
}

function made() {
  const objects = new Objects();
  const store = durable(objects, { deadline: 60_000 });
  const reader = new DemandReader();
  const run = async (action: Action, ...charges: Charge[]) => store.run(action, reader.read(charges));
  const left = async (action: Action, ...charges: Charge[]) => (await run(action, ...charges)).map(({ remaining }) => remaining);
  return { objects, store, run, left };
}

describe("limits of one key", () => {
  it("are in one object, and charged together or not at all", async () => {
    const { objects, run, left } = made();
    const [wide, narrow] = [charge({ name: "wide" }), charge({ name: "narrow", quota: 1 })];
    expect(await left("charge", wide, narrow)).toEqual([9, 0]);
    const [one, other] = await run("charge", wide, narrow);
    expect([one!.wait, one!.remaining, other!.wait > 0]).toEqual([0, 9, true]);
    expect(await left("refund", wide, narrow)).toEqual([10, 1]);
    await left("charge", { ...wide, cost: 10 });
    expect(await left("reset", wide)).toEqual([10]);
    expect(objects.disks.size).toBe(1);
  });

  it("keep long windows when the object ends, in one stored value", async () => {
    const { objects, left } = made();
    const [short, long] = [charge({ name: "short" }), charge({ name: "long", algorithm: "sliding", window: HOUR })];
    const month = charge({ name: "month", algorithm: "fixed", window: "month" });
    await left("charge", short);
    const [disk] = objects.disks.values();
    expect([disk!.puts, disk!.alarm]).toEqual([0, undefined]);
    await left("charge", short, long, month);
    expect([[...disk!.values.keys()], disk!.puts]).toEqual([["states"], 1]);
    objects.evict();
    await objects.object([...objects.disks.keys()][0]!).alarm();
    expect(await left("look", short, long, month)).toEqual([10, 9, 9]);
  });

  it("store nothing once they are over", async () => {
    const { objects, left } = made();
    await left("charge", charge({ window: HOUR }));
    const [[name, disk]] = objects.disks.entries() as unknown as [[string, Disk]];
    expect(disk.alarm).toBeGreaterThan(Date.now());
    await left("reset", charge({ window: HOUR }));
    await objects.object(name).alarm();
    expect(disk.values.size).toBe(0);
  });

  it("are bounded in number, and a charge beyond that does nothing", async () => {
    const { run, left } = made();
    const many = Array.from({ length: 64 }, (_, at) => charge({ name: `limit ${at}` }));
    for (let at = 0; at < 64; at += 16) await run("charge", ...many.slice(at, at + 16));
    await expect(run("charge", many[0]!, charge({ name: "more" }))).rejects.toMatchObject({ reason: "lost" });
    expect(await left("look", many[0]!)).toEqual([9]);
  });
});

describe("limits of several keys", () => {
  const [one, other] = [charge({ key: ["one"] }), charge({ key: ["other"], quota: 1 })];

  it("are refunded where one refuses", async () => {
    const { objects, run, left } = made();
    expect(await left("charge", one, other)).toEqual([9, 0]);
    const [first, second] = await run("charge", one, other);
    expect([first!.wait, first!.remaining, second!.wait > 0]).toEqual([0, 9, true]);
    expect([await left("look", other, one), objects.disks.size]).toEqual([[0, 9], 2]);
  });

  it("are refunded where an object is away, and refused where one refuses all the same", async () => {
    const { objects, store, run, left } = made();
    await left("charge", one, other);
    const [name] = objects.disks.keys();
    objects.broken.add([...objects.disks.keys()][1]!);
    await expect(run("charge", one, other)).rejects.toMatchObject({ reason: "lost" });
    expect(await left("look", one)).toEqual([9]);
    objects.broken.clear();
    objects.broken.add(name!);
    const [unknown, refused] = await run("charge", one, other);
    expect([unknown, refused!.wait > 0, store.counts.failures]).toEqual([{ wait: 0, remaining: 0, reset: 0 }, true, 2]);
  });
});

describe("a refund of a charge that another object refused", () => {
  afterEach(() => vi.useRealTimers());
  const terms = { quota: 10, window: MINUTE };
  const full = charge({ key: ["full"], quota: 1, window: HOUR });

  /** Charges one key together with one that refuses `wait` milliseconds later, while others charge 3 tokens meanwhile. */
  async function late(algorithm: "fixed" | "sliding" | "gcra", wait: number): Promise<number[]> {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 0, 59), toFake: ["Date", "performance"] });
    const { objects, run, left } = made();
    const [mine, others] = [1, 3].map((cost) => charge({ key: ["late"], algorithm, ...terms, cost }));
    await run("charge", full);
    const { get } = objects;
    const full_name = [...objects.disks.keys()][0];
    objects.get = (name) => ({
      fetch: async (address, init) => {
        // The object of the full key answers when another window has begun, in which others have charged.
        if (name === full_name && init.body.includes("charge")) {
          await new Promise((resolve) => setImmediate(resolve));
          vi.advanceTimersByTime(wait);
          objects.get = get;
          await run("charge", others!);
        }
        return get.call(objects, name).fetch(address, init);
      },
    });
    const [, refused] = await run("charge", mine!, full);
    expect(refused!.wait).toBeGreaterThan(0);
    return left("look", mine!);
  }

  it("is done in the window of its charge", async () => {
    expect(await late("fixed", 500)).toEqual([7]);
    expect(await late("sliding", 500)).toEqual([7]);
  });

  it("does nothing in a later one", async () => {
    expect(await late("fixed", 2000)).toEqual([7]);
    // The token of the window before weighs on: it is lost for that window, and no other gets it.
    expect(await late("sliding", 2000)).toEqual([6]);
    expect(await late("gcra", 60_000)).toEqual([7]);
  });
});

describe("an object", () => {
  it.each([["[]"], ['["charge"]'], ['["open",{}]'], [JSON.stringify(["charge", ...Array(17).fill({})])], ["x".repeat(20_000)]])("refuses %s", async (body) => {
    const response = await new LimitObject(new Disk()).fetch(new Request("https://limits/", { method: "POST", body }));
    expect(response.ok).toBe(false);
  });

  it("that answers something else is away", async () => {
    for (const body of ["[]", "{}", "x", "[0,1]"]) {
      const objects: LimitNamespace = { idFromName: String, get: () => ({ fetch: async () => new Response(body) }) };
      const error = await durable(objects).run("charge", new DemandReader().read([charge()])).then(() => undefined, (away: Away) => away);
      expect(error).toMatchObject({ reason: body === "x" ? "lost" : "garbled" });
    }
  });
});

it("options are checked", () => {
  expect(() => durable(undefined as never)).toThrow(TypeError);
  expect(() => durable(new Objects(), { deadline: 0 })).toThrow(RangeError);
  expect(() => durable(new Objects(), { objects: 1 } as never)).toThrow(TypeError);
});
