// The sources of policies, and their changes and failures.

import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Env } from "../src/env.ts";
import { Policies, type PolicySettings } from "../src/policies.ts";
import { ask, dated, deployment, EVALUATION, fill, given, metrics, next, policies, reading, send, stranger } from "./testing.ts";

beforeEach(fill);

/** Returns the decision of the worker, or the status of its failure. */
async function decision(deployed: Env): Promise<unknown> {
  const { status, body } = await ask(deployed, EVALUATION, reading);
  return status === 200 ? (body as { decision: boolean }).decision : status;
}

async function health(deployed: Env): Promise<object> {
  const response = await send(deployed, "/health");
  return { http: response.status, ...((await response.json()) as object) };
}

/** Returns the public state of the policies in use. */
async function inUse(deployed: Env): Promise<object> {
  return (await metrics(deployed))["policies"]!;
}

/** Returns a binding like that of static assets, over one file. */
function assets(content: () => Uint8Array<ArrayBuffer> | undefined): { fetch: typeof fetch } {
  const answer = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const bytes = content();
    if (bytes === undefined || new URL(String(input)).pathname !== "/policies.bundle") return new Response("no", { status: 404 });
    const etag = `"${bytes.length}"`;
    if (new Headers(init?.headers).get("If-None-Match") === etag) return new Response(null, { status: 304 });
    return new Response(bytes, { headers: { ETag: etag } });
  };
  return { fetch: answer as typeof fetch };
}

describe("a bundle", () => {
  it("comes from KV, from R2 or from an asset, and the next one too", async () => {
    let asset = policies;
    const { POLICIES_R2 } = given;
    await POLICIES_R2.put("policies", policies);
    const deployments = [
      deployment(),
      deployment({ BUNDLE: "r2:policies", POLICIES_KV: undefined, POLICIES_R2 }),
      deployment({ BUNDLE: "asset:/policies.bundle", POLICIES_KV: undefined, ASSETS: assets(() => asset) }),
    ];
    for (const deployed of deployments) {
      expect(await decision(deployed)).toBe(true);
      expect(await health(deployed)).toMatchObject({ http: 200, status: "ok", age: expect.any(Number) });
      expect(await inUse(deployed)).toMatchObject({ status: "ok", revision: 1, name: "interop" });
    }
    asset = next;
    await given.POLICIES_KV.put("policies", next);
    await POLICIES_R2.put("policies", next);
    for (const deployed of deployments) {
      // This request polls after its response, and the next one has the new policies.
      expect(await decision(deployed)).toBe(true);
      expect(await decision(deployed)).toBe(false);
      expect(await inUse(deployed)).toMatchObject({ status: "ok", revision: 2 });
    }
  });

  it("stays in use if the next one is refused", async () => {
    const deployed = deployment();
    expect(await decision(deployed)).toBe(true);
    const cut = next.slice(0, -1);
    const changed = next.with(next.length >> 1, (next[next.length >> 1] ?? 0) ^ 1);
    for (const [bytes, problem] of [
      [cut, "wrong-length"],
      [changed, expect.any(String)],
      [stranger, "unknown-signer"],
      [new Uint8Array(), expect.any(String)],
      [new TextEncoder().encode("hello"), "not-a-bundle"],
      [new Uint8Array(17 * 2 ** 20), "unreadable"],
    ] as const) {
      await given.POLICIES_KV.put("policies", bytes);
      expect(await decision(deployed)).toBe(true);
      expect(await decision(deployed)).toBe(true);
      expect(await health(deployed)).toMatchObject({ http: 200, status: "stale", problem });
      expect(await inUse(deployed)).toMatchObject({ status: "stale", revision: 1, problem });
    }
    await given.POLICIES_KV.delete("policies");
    expect(await decision(deployed)).toBe(true);
    expect(await health(deployed)).toMatchObject({ status: "stale", problem: "missing" });
    await given.POLICIES_KV.put("policies", next);
    await decision(deployed);
    expect(await decision(deployed)).toBe(false);
    await given.POLICIES_KV.put("policies", policies);
    await decision(deployed);
    // An attacker replays the first revision.
    expect(await decision(deployed)).toBe(false);
    expect(await inUse(deployed)).toMatchObject({ status: "stale", revision: 2, problem: "old-revision" });
  });

  it("is the last good one if a new instance finds none", async () => {
    const BUNDLE = "kv:precious";
    await given.POLICIES_KV.put("precious", policies);
    expect(await decision(deployment({ BUNDLE }))).toBe(true);
    for (const bytes of [stranger, new TextEncoder().encode("hello"), undefined]) {
      await (bytes === undefined ? given.POLICIES_KV.delete("precious") : given.POLICIES_KV.put("precious", bytes));
      const deployed = deployment({ BUNDLE });
      expect(await decision(deployed)).toBe(true);
      expect(await health(deployed)).toMatchObject({ http: 200, status: "stale" });
      expect(await inUse(deployed)).toMatchObject({ status: "stale", revision: 1 });
      // It is verified like any other bundle.
      expect(await decision(deployment({ BUNDLE, MIN_REVISION: 2 }))).toBe(503);
      expect(await decision(deployment({ BUNDLE, BUNDLE_NAME: "other" }))).toBe(503);
    }
    await given.POLICIES_KV.put("precious", next);
    expect(await decision(deployment({ BUNDLE }))).toBe(false);
    await given.POLICIES_KV.delete("precious");
    expect(await decision(deployment({ BUNDLE }))).toBe(false);
  });

  it("decides nothing until there is a good one, and then decides", async () => {
    for (const [number, bytes] of [undefined, stranger, new TextEncoder().encode("hello")].entries()) {
      const key = `unknown${number}`;
      const deployed = deployment({ BUNDLE: `kv:${key}` });
      if (bytes !== undefined) await given.POLICIES_KV.put(key, bytes);
      expect(await decision(deployed)).toBe(503);
      expect(await health(deployed)).toMatchObject({ http: 503, status: "not-ready" });
      await given.POLICIES_KV.put(key, policies);
      expect(await decision(deployed)).toBe(true);
    }
  });

  it("must have the name and revision that the deployment requires", async () => {
    expect(await decision(deployment({ BUNDLE_NAME: "interop", MIN_REVISION: 1 }))).toBe(true);
    expect(await decision(deployment({ BUNDLE_NAME: "other" }))).toBe(503);
    expect(await decision(deployment({ MIN_REVISION: "2" }))).toBe(503);
  });

  it("is polled for no more often than configured", async () => {
    let looks = 0;
    const POLICIES_KV = {
      get: (key: string, type: "arrayBuffer") => {
        looks += 1;
        return given.POLICIES_KV.get(key, type);
      },
    };
    const deployed = deployment({ POLICIES_KV, REFRESH_SECONDS: 3600 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => decision(deployed)));
    expect(answers).toEqual(Array.from({ length: 20 }, () => true));
    expect(looks).toBe(1);
  });

  it("is swapped under load, and every answer is from one or the other", async () => {
    const deployed = deployment();
    expect(await decision(deployed)).toBe(true);
    const asking = async (): Promise<unknown[]> => {
      const answers = [];
      for (let at = 0; at < 40; at += 1) {
        if (at === 10) await given.POLICIES_KV.put("policies", next);
        answers.push(await decision(deployed));
      }
      return answers;
    };
    for (const answers of await Promise.all(Array.from({ length: 8 }, asking))) {
      // Never an error, never back to the old policies.
      const swap = answers.indexOf(false);
      expect(swap).toBeGreaterThan(0);
      expect(answers).toEqual(answers.map((_, at) => at < swap));
    }
  });

  it("that cannot be fetched is an error", async () => {
    const POLICIES_KV = { get: () => Promise.reject(new Error("KV is away")) };
    const deployed = deployment({ BUNDLE: "kv:never", POLICIES_KV });
    expect(await decision(deployed)).toBe(503);
    expect(await health(deployed)).toMatchObject({ http: 503, problem: "unreadable" });
  });
});

describe("the public health", () => {
  it("does not reveal the policies in use", async () => {
    const deployed = deployment();
    await decision(deployed);
    expect(Object.keys(await health(deployed)).sort()).toEqual(["age", "checked", "http", "status"]);
  });
});

describe("a bundle that expires", () => {
  const end = Date.UTC(2036, 0);
  const request = { principal: { id: "alice", roles: ["user"] }, action: "read", resource: { kind: "record", id: "record-1" } };

  /** Returns policies with the dated bundle in use, and a clock that the test sets. */
  function policiesAt(afterExpiry: "deny" | "decide") {
    let now = Date.UTC(2027, 0);
    const settings: PolicySettings = {
      source: async (etag) => (etag === undefined ? { kind: "bundle", bytes: dated, etag: "1" } : { kind: "unchanged" }),
      lastGood: { read: async () => undefined, write: async () => {} },
      opening: { trust: JSON.parse(given.RELEASE_KEY), clock: () => now, afterExpiry },
      refreshMilliseconds: 60_000,
      clock: () => now,
    };
    const policies = new Policies(settings);
    const pdp = () => policies.pdp({ waitUntil: () => {} });
    return { policies, pdp, goTo: (time: number) => void (now = time) };
  }

  it("is reported beforehand, then denies everything, and fails the health", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { policies, pdp, goTo } = policiesAt("deny");
    expect([(await pdp()).isAllowed(request), policies.health().status, warn.mock.calls]).toEqual([true, "ok", []]);
    goTo(end - 3_600_000);
    for (let time = 0; time < 3; time += 1) expect((await pdp()).isAllowed(request)).toBe(true);
    expect(policies.health()).toMatchObject({ status: "ok", expiresIn: 3600 });
    goTo(end);
    for (let time = 0; time < 3; time += 1) expect((await pdp()).isAllowed(request)).toBe(false);
    expect(policies.health()).toMatchObject({ status: "expired", expiresIn: 0 });
    expect(warn.mock.calls.map(([line]) => JSON.parse(String(line)))).toEqual([
      { event: "expires-soon", revision: 1, expires: "2036-01-01T00:00:00.000Z" },
      { event: "expired", revision: 1, expires: "2036-01-01T00:00:00.000Z" },
    ]);
    warn.mockRestore();
  });

  it("continues to decide if the deployment is configured so", async () => {
    const { policies, pdp, goTo } = policiesAt("decide");
    await pdp();
    goTo(end + 1000);
    expect([(await pdp()).isAllowed(request), policies.health().status]).toEqual([true, "ok"]);
  });

  it("is a matter of two words", async () => {
    expect(await decision(deployment({ AFTER_EXPIRY: "decide" }))).toBe(true);
    for (const AFTER_EXPIRY of ["", "allow", "Deny"]) expect(await decision(deployment({ AFTER_EXPIRY }))).toBe(503);
  });
});
