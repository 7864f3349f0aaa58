// The store on a real redis-server, and on clients that fail in every way.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, describe, expect, it, vi } from "vitest";

import { CHARGE_DIGEST, CHARGE_SCRIPT } from "./charge-script.ts";
import { DemandReader, type Charge } from "./demand.ts";
import { leased } from "./leased.ts";
import { limiter } from "./limiter.ts";
import { redis, type RunScript } from "./redis.ts";
import type { Terms } from "./rule.ts";
import type { Action } from "./state.ts";
import { Away } from "./store.ts";
import { charge, Client, freePort, hasRedis, Server } from "./testing-limits.ts";

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
const DAYS = 300 * 86_400_000_000;
/** A deadline that a busy machine meets too. */
const PATIENT = 60_000;
const reader = new DemandReader();
const demands = (...charges: Charge[]) => reader.read(charges);
const ten = charge({ window: DAYS });

it("the script is the one of the crate", () => {
  const text = read("crates/ratelimit/src/charge.lua");
  expect(CHARGE_SCRIPT).toBe(text);
  expect(CHARGE_DIGEST).toBe(createHash("sha1").update(text).digest("hex"));
});

describe("the call of a check", () => {
  it.each(JSON.parse(read("tests/limits/keys.json")).keys as { key: string[]; name: string; rule: Terms; redis: string }[])(
    "has the key $redis",
    async ({ key, name, rule, redis: expected }) => {
      const calls: (readonly string[])[] = [];
      const store = redis(async (_, keys) => (calls.push(keys), [0, 1, 0, 9]));
      await store.run("charge", demands({ ...rule, name, key }));
      expect(calls).toEqual([[expected]]);
    },
  );

  it("shares a call with the checks of the same turn, up to 128, and each rule is told once", async () => {
    const run = vi.fn<RunScript>(async (_script, keys) => [...keys.flatMap((key) => [0, Number(key.at(-1)), 0]), 9]);
    const store = redis(run);
    const [api, narrow] = demands(charge({ name: "a1" }), charge({ name: "a2", quota: 3 }));
    const all = await Promise.all([store.run("charge", [api!, narrow!]), store.run("look", [narrow!]), store.run("charge", [api!])]);
    expect(all.map((outcomes) => outcomes.map(({ remaining }) => remaining))).toEqual([[1, 2], [2], [1]]);
    const rules = ["gcra", "10", "60000000", "10", "gcra", "3", "60000000", "3"];
    expect(run.mock.calls.map(([, , args]) => args)).toEqual([["2", ...rules, "charge", "1", "1", "and", "2", "1", "look", "2", "1", "charge", "1", "1"]]);
    run.mockClear();
    await Promise.all(Array.from({ length: 300 }, () => store.run("charge", [api!])));
    expect(run.mock.calls.map(([, keys]) => keys.length)).toEqual([128, 128, 44]);
    run.mockRejectedValue(new Error("OOM"));
    const failed = await Promise.allSettled([store.run("charge", [api!]), store.run("charge", [narrow!])]);
    expect(failed.map((one) => (one as PromiseRejectedResult).reason.code)).toEqual(["OOM", "OOM"]);
  });

  it("has the arguments of a batch of one", async () => {
    const run = vi.fn<RunScript>(async () => [0, 1, 0, 0, 1, 0, 0, 1, 0, 9]);
    const fixed = charge({ name: "b", algorithm: "fixed", window: "month", cost: 3 });
    const sliding = charge({ name: "c", algorithm: "sliding", cost: 0 });
    const outcomes = await redis(run).run("refund", demands(charge({ burst: 5 }), fixed, sliding));
    expect(outcomes).toEqual(Array(3).fill({ wait: 0, remaining: 1, reset: 0 }));
    const rules = ["gcra", "10", "60000000", "5", "fixed", "10", "month", "0", "sliding", "10", "60000000", "0"];
    expect(run.mock.calls[0]![2]).toEqual(["3", ...rules, "refund", "1", "1", "and", "2", "3", "and", "3", "0"]);
  });
});

it("a refund on a cluster ends when the tokens of its charge are back, or its window is over", async () => {
  const words: string[] = [];
  const run: RunScript = async (_, keys, args) => {
    words.push(...args.filter((arg) => /^[a-z]+( \d+)?$/.test(arg) && !["gcra", "fixed", "sliding"].includes(arg)));
    // The last limit refuses.
    return [...keys.flatMap((key) => [key.endsWith(":d") ? 5 : 0, 1, 70]), 10_100];
  };
  const terms = [{ name: "a" }, { name: "b", algorithm: "fixed" }, { name: "c", algorithm: "sliding", window: 1000 }, { name: "d" }] as const;
  await redis(run, { cluster: true }).run("charge", demands(...terms.map((one, at) => charge({ ...one, key: [String(at)] }))));
  expect(words).toEqual(["charge", "charge", "charge", "charge", "refund 10170", "refund 10170", "refund 11000"]);
});

describe.skipIf(!hasRedis)("on redis-server", () => {
  const ends: (() => Promise<void> | void)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  async function started(deadline = PATIENT, port?: number) {
    const server = await Server.start(port);
    const client = new Client(server.port);
    ends.push(() => server.kill(), () => client.close());
    const store = redis(client.byText, { byDigest: client.byDigest, deadline });
    const run = async (action: Action, ...charges: Charge[]) => store.run(action, demands(...charges));
    const left = async (action: Action, ...charges: Charge[]) => (await run(action, ...charges)).map(({ remaining }) => remaining);
    return { server, client, store, run, left };
  }

  it("limits are charged together or not at all", async () => {
    const { left, run } = await started();
    const [wide, narrow] = [{ ...ten, name: "wide" }, { ...ten, name: "narrow", quota: 2 }];
    expect([await left("charge", wide, narrow), await left("charge", wide, narrow)]).toEqual([[9, 1], [8, 0]]);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const [one, other] = await run("charge", wide, narrow);
      expect([one!.wait, one!.remaining, other!.wait > 0]).toEqual([0, 8, true]);
    }
    expect(await left("refund", wide, narrow)).toEqual([9, 1]);
    expect(await left("reset", wide)).toEqual([10]);
    expect(await left("look", wide, narrow)).toEqual([10, 1]);
    expect((await run("charge", { ...narrow, cost: 3 }))[0]!.wait).toBe(-1);
  });

  it("nobody is admitted beyond the quota", async () => {
    const { run, store } = await started();
    const many = { ...ten, quota: 1000 };
    const all = await Promise.all(Array.from({ length: 3000 }, () => run("charge", many)));
    expect(all.filter(([outcome]) => outcome!.wait === 0).length).toBe(1000);
    expect(store.counts).toEqual({ answered: 3000, failures: 0, turnedAway: 0, opened: 0 });
  });

  it("four limiters with leases admit no more than the quota, and nearly all of it, in few calls", async () => {
    const { client } = await started();
    const stores = [1, 2, 3, 4].map(() => redis(client.byText, { byDigest: client.byDigest, deadline: PATIENT }));
    const guards = stores.map((store) => limiter({ store: leased(store) }));
    const hot: Charge = { ...ten, key: [], quota: 10_000, algorithm: "fixed", window: "month" };
    let allowed = 0;
    for (let round = 0; round < 4000; round += 1) {
      const all = await Promise.all(guards.map((guard) => guard.charge([hot])));
      allowed += all.filter((checked) => checked.allowed).length;
      if (round === 999) expect(stores.reduce((sum, { counts }) => sum + counts.answered, 0)).toBeLessThan(400);
    }
    expect(allowed).toBeLessThanOrEqual(10_000);
    expect(allowed).toBeGreaterThanOrEqual(9900);
  });

  it("every algorithm counts as in this process", async () => {
    const { client, run } = await started();
    for (const algorithm of ["gcra", "fixed", "sliding"] as const) {
      // A window of a year does not end in this test, but for one run in many millions.
      const terms: Charge = { name: algorithm, key: ["ü", "b"], algorithm, quota: 1000, window: algorithm === "fixed" ? "month" : 366 * 86_400_000_000 };
      const local = limiter();
      for (const cost of [0, 1, 10, 300, 600, 200, 89, 1]) {
        const [outcome] = await run("charge", { ...terms, cost });
        const { limits: [standing] } = await local.charge([{ ...terms, cost }]);
        expect([outcome!.wait === 0, outcome!.remaining]).toEqual([standing!.admits, standing!.remaining]);
      }
    }
    expect(await client.call("DBSIZE")).toBe(3);
  });

  it("a script that was flushed is sent again, once", async () => {
    const { client, left, store } = await started();
    for (const remaining of [9, 8, 7]) {
      expect(await left("charge", ten)).toEqual([remaining]);
      await client.call("SCRIPT", "FLUSH");
    }
    expect(store.counts.failures).toBe(0);
  });

  it("a user with few rights is enough", async () => {
    const { client, left } = await started();
    await left("charge", ten);
    const rights = "on >sesame ~wg1:* -@all +evalsha +eval +time +mget +psetex +del";
    await client.call("ACL", "SETUSER", "limits", ...rights.split(" "));
    expect(await client.call("AUTH", "limits", "sesame")).toBe("OK");
    expect([await left("charge", ten), await left("reset", ten)]).toEqual([[8], [10]]);
  });

  it("a replica and a full server refuse", async () => {
    const { client, run, left, store } = await started();
    await client.call("REPLICAOF", "127.0.0.1", "1");
    await expect(run("charge", ten)).rejects.toMatchObject({ reason: "refused", code: "READONLY" });
    await client.call("REPLICAOF", "NO", "ONE");
    await client.call("CONFIG", "SET", "maxmemory", "1");
    await expect(run("charge", ten)).rejects.toMatchObject({ reason: "refused", code: "OOM" });
    await client.call("CONFIG", "SET", "maxmemory", "0");
    expect([await left("charge", ten), store.counts.failures]).toEqual([[9], 2]);
  });

  it("a node of a cluster takes a call for each key, and refunds where one refuses", async () => {
    const folder = await mkdtemp(join(tmpdir(), "wardgate-"));
    ends.unshift(() => rm(folder, { recursive: true }));
    const server = await Server.start(undefined, "--cluster-enabled", "yes", "--cluster-port", String(await freePort()), "--dir", folder);
    const client = new Client(server.port);
    ends.unshift(() => server.kill(), () => client.close());
    await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    while (!String(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok"));
    const [one, other] = [{ ...ten, key: ["one"] }, { ...ten, key: ["other"], quota: 1 }];
    const alone = redis(client.byText, { deadline: PATIENT });
    await expect(alone.run("charge", demands(one, other))).rejects.toMatchObject({ reason: "refused", code: "CROSSSLOT" });
    const store = redis(client.byText, { byDigest: client.byDigest, cluster: true, deadline: PATIENT });
    const left = async (...charges: Charge[]) => (await store.run("charge", demands(...charges))).map(({ wait, remaining }) => [wait === 0, remaining]);
    expect(await left({ ...one, name: "b" }, one, { ...other, name: "b" })).toEqual([[true, 9], [true, 9], [true, 0]]);
    expect(await left(one, other)).toEqual([[true, 8], [true, 0]]);
    expect(await left(other, one)).toEqual([[false, 0], [true, 8]]);
  });

  it("a paused server is late, the breaker opens, and the store comes back", async () => {
    const { server, run, left, store } = await started(300);
    await left("charge", ten).catch(() => {});
    server.pause();
    const all = await Promise.allSettled(Array.from({ length: 5 }, () => run("charge", ten)));
    expect(all.map((one) => (one as PromiseRejectedResult).reason.reason)).toEqual(Array(5).fill("late"));
    expect([store.isOpen, store.counts.opened]).toEqual([true, 1]);
    await expect(run("charge", ten)).rejects.toMatchObject({ reason: "open" });
    server.resume();
    await back(store);
    // What waited in the sockets was charged too, and nothing twice.
    const [remaining] = await left("look", ten);
    expect(remaining).toBeGreaterThanOrEqual(4 - 1);
  });

  it("a server that was killed is lost, and a new one is full", async () => {
    const { server, run, left, store } = await started(5000);
    await left("charge", { ...ten, cost: 10 });
    await server.kill();
    for (let attempt = 0; attempt < 5; attempt += 1) await expect(run("charge", ten)).rejects.toMatchObject({ reason: "lost" });
    await expect(run("charge", ten)).rejects.toMatchObject({ reason: "open" });
    const again = await Server.start(server.port);
    ends.unshift(() => again.kill());
    await back(store);
    expect(await left("charge", ten)).toEqual([9]);
  });

  /** Looks until the store answers: it tries once a second. */
  async function back(store: ReturnType<typeof redis>): Promise<void> {
    while (store.isOpen) {
      await store.run("look", demands(ten)).catch(() => new Promise((resolve) => setTimeout(resolve, 20)));
    }
  }
});

describe("a client that fails", () => {
  const failing = (run: RunScript, deadline = PATIENT) => redis(run, { deadline });

  it.each([
    ["READONLY You can't write against a read only replica.", "refused", "READONLY"],
    ["OOM command not allowed when used memory > 'maxmemory'.", "refused", "OOM"],
    ["ReplyError: ERR unknown command", "refused", "ERR"],
    ["NOSCRIPT No matching script.", "refused", "NOSCRIPT"],
    ["CROSSSLOT Keys in request don't hash to the same slot", "refused", "CROSSSLOT"],
    ["connect ECONNREFUSED 127.0.0.1:6379", "lost", undefined],
    ["Connection is closed.", "lost", undefined],
    ["", "lost", undefined],
  ])("with %j is away", async (message, reason, code) => {
    const error = await failing(async () => Promise.reject(new Error(message))).run("charge", demands(ten)).then(undefined, (away) => away as Away);
    expect(error).toBeInstanceOf(Away);
    expect(error).toMatchObject({ reason });
    expect((error as Away).code).toBe(code);
  });

  it.each([
    [null], [undefined], ["OK"], [[]], [[0, 1, 0]], [[0, 1, 0, 0, 9]], [["0", "1", "0", 9]], [[0, 1, null, 9]], [[0, -1, 0, 9]], [[0, 1, 0, -9]], [[0, 1, 0, "now"]],
    [[-2, 1, 0, 9]], [[0, 1.5, 0, 9]], [[0, Number.NaN, 0, 9]], [[0, 2 ** 60, 0, 9]], [{ 0: 0, 1: 1, 2: 0, 3: 9, length: 4 }], [[[0], [1], [0], 9]],
  ])("with the reply %j is garbled", async (reply) => {
    await expect(failing(async () => reply).run("charge", demands(ten))).rejects.toMatchObject({ reason: "garbled" });
  });

  it("may answer with integers of any size", async () => {
    expect(await failing(async () => [0n, 9n, 5n, 7n]).run("charge", demands(ten))).toEqual([{ wait: 0, remaining: 9, reset: 5 }]);
  });

  it("may throw at once", async () => {
    const run = (): never => {
      throw new Error("closed");
    };
    await expect(failing(run).run("charge", demands(ten))).rejects.toMatchObject({ reason: "lost" });
  });

  it("is asked once, whatever it says but NOSCRIPT", async () => {
    for (const [message, count] of [["OOM", 0], ["lost", 0], ["NOSCRIPT No matching script.", 1]] as const) {
      const run = vi.fn<RunScript>(async () => [0, 1, 0, 9]);
      const byDigest = vi.fn<RunScript>(async () => Promise.reject(new Error(message)));
      await redis(run, { byDigest, deadline: PATIENT }).run("charge", demands(ten)).catch(() => {});
      expect([byDigest.mock.calls.length, run.mock.calls.length]).toEqual([1, count]);
    }
  });

  it("says nothing of what it was told", async () => {
    const error = await failing(async () => Promise.reject(new Error("redis://limits:sesame@host"))).run("charge", demands(ten)).catch((away: Away) => away);
    expect(`${error} ${JSON.stringify(error)} ${(error as Away).cause}`).not.toContain("sesame");
  });

  it("opens the breaker, which lets one check a second try", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance", "setTimeout", "clearTimeout"] });
    try {
      const run = vi.fn<RunScript>(async () => Promise.reject(new Error("closed")));
      const store = failing(run);
      const reasons = async (count: number): Promise<string[]> => {
        const all = Array.from({ length: count }, () => store.run("charge", demands(ten)).then(() => "answered", ({ reason }: Away) => reason));
        return Promise.all(all);
      };
      for (let attempt = 0; attempt < 5; attempt += 1) expect(await reasons(1)).toEqual(["lost"]);
      expect(await reasons(2)).toEqual(["open", "open"]);
      vi.advanceTimersByTime(1001);
      expect(await reasons(3)).toEqual(["lost", "open", "open"]);
      vi.advanceTimersByTime(1001);
      run.mockImplementation((_script, keys) => Promise.resolve([...keys.flatMap(() => [0, 1, 0]), 9]));
      expect(await reasons(2)).toEqual(["answered", "open"]);
      expect(await reasons(2)).toEqual(["answered", "answered"]);
      expect(store.counts).toEqual({ answered: 3, failures: 6, turnedAway: 5, opened: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  it("that never answers is late, and what it says later is ignored", async () => {
    let answer: (reply: unknown) => void = () => {};
    const store = failing(() => new Promise((resolve) => (answer = resolve)), 5);
    await expect(store.run("charge", demands(ten))).rejects.toMatchObject({ reason: "late" });
    answer([0, 1, 0, 9]);
    expect(store.counts.answered).toBe(0);
  });

  it("that rejects after the deadline is not sent the script", async () => {
    let refuse: (error: Error) => void = () => {};
    const run = vi.fn<RunScript>(async () => [0, 1, 0, 9]);
    const store = redis(run, { byDigest: () => new Promise((_, reject) => (refuse = reject)), deadline: 5 });
    await expect(store.run("charge", demands(ten))).rejects.toMatchObject({ reason: "late" });
    refuse(new Error("NOSCRIPT No matching script."));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(run).not.toHaveBeenCalled();
  });
});

it("options are checked", () => {
  const run: RunScript = async () => [];
  expect(() => redis("redis://host" as never)).toThrow(TypeError);
  expect(() => redis(run, { byDigest: 1 as never })).toThrow(TypeError);
  expect(() => redis(run, { deadline: 0 })).toThrow(RangeError);
  expect(() => redis(run, { retries: 1 } as never)).toThrow(TypeError);
});
