// Rate limits in policies: charged in Durable Objects with each evaluation, and refused without them.

import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Env } from "../src/env.ts";
import { ask, deployment, EVALUATION, EVALUATIONS, fill, given, later, limited, metrics, policies, post, reading, send } from "./testing.ts";

interface Body {
  readonly decision: boolean;
  readonly context?: { readonly limits?: readonly Record<string, unknown>[] };
}

beforeEach(fill);

/** Deploys with objects, whose answers are never late. */
async function limiting(changes: Record<string, unknown> = {}): Promise<Env> {
  await given.POLICIES_KV.put("limited", limited);
  return deployment({ BUNDLE: "kv:limited", LIMITS: given.LIMITS, LIMITS_DEADLINE: 60_000, INDEX: undefined, ...changes });
}

const viewing = (id: string, name = "view", type = "album"): object => ({ subject: { type: "user", id }, action: { name }, resource: { type, id: "a" } });

async function answered(deployed: Env, body: object): Promise<{ readonly headers: Headers; readonly body: Body }> {
  const response = await post(deployed, { body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return { headers: response.headers, body: await response.json() };
}

/** Objects of which every call fails. */
const away = { idFromName: () => "none", get: () => ({ fetch: () => Promise.reject(new Error("the object is away")) }) };

describe("an evaluation under limits", () => {
  it("is charged, and says so in fields and context", async () => {
    const deployed = await limiting();
    const first = await answered(deployed, viewing("ada"));
    const { resetMs, ...entry } = first.body.context!.limits![0]!;
    expect([first.body.decision, entry]).toEqual([true, { name: "views", quota: 2, remaining: 1, retryAfterMs: 0, state: "charged" }]);
    expect(resetMs).toBeGreaterThan(0);
    expect(first.headers.get("RateLimit-Policy")).toMatch(/^"views";q=2;w=3600;pk=:.*:$/);
    expect(first.headers.get("RateLimit")).toMatch(/^"views";r=1;t=\d+;pk=/);
    expect(first.headers.has("Retry-After")).toBe(false);
    await answered(deployed, viewing("ada"));
    const third = await answered(deployed, viewing("ada"));
    expect(third.body).toMatchObject({ decision: false, context: { limits: [{ name: "views", remaining: 0, state: "refused" }] } });
    expect(Number(third.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await answered(deployed, viewing("bob"))).body.decision).toBe(true);
  });

  it("of other kinds, or denied by the policies, charges nothing", async () => {
    const deployed = await limiting();
    const note = await answered(deployed, viewing("eve", "view", "note"));
    expect([note.body, note.headers.has("RateLimit")]).toEqual([{ decision: true }, false]);
    expect((await answered(deployed, viewing("eve", "delete"))).body).toEqual({ decision: false });
    const role = { ...viewing("eve"), subject: { type: "visitor", id: "eve" } };
    expect((await answered(deployed, role)).body).toEqual({ decision: false });
    expect((await answered(deployed, viewing("eve"))).body.context!.limits![0]).toMatchObject({ remaining: 1 });
  });

  it("is allowed exactly as often as the quota says, by several instances at once", async () => {
    const instances = await Promise.all([limiting(), limiting(), limiting()]);
    const all = await Promise.all(Array.from({ length: 60 }, (_, at) => answered(instances[at % 3]!, viewing("crowd", "many:x"))));
    expect(all.filter(({ body }) => body.decision).length).toBe(20);
    expect(all.every(({ body }) => body.context!.limits![0]!["state"] === (body.decision ? "charged" : "refused"))).toBe(true);
  });

  it("is refused if it is unreadable, and charges nothing", async () => {
    const deployed = await limiting();
    const wrong = { ...viewing("fay"), subject: { type: "user", id: "fay", properties: { "cerbos.roles": 7 } } };
    expect(await ask(deployed, EVALUATION, wrong)).toMatchObject({ status: 400, body: { error: "bad-request" } });
    expect((await answered(deployed, viewing("fay"))).body.context!.limits![0]).toMatchObject({ remaining: 1 });
  });
});

describe("several evaluations under limits", () => {
  const many = (id: string, semantic: string, ...resources: unknown[]): object => ({
    ...viewing(id),
    options: { evaluations_semantic: semantic },
    evaluations: resources.map((resource) => ({ resource })),
  });
  const album = { type: "album", id: "a" };

  it("are charged in their order, up to the one that ends the semantic", async () => {
    const deployed = await limiting();
    const decisions = async (body: object): Promise<boolean[]> => {
      const { body: { evaluations } } = (await ask(deployed, EVALUATIONS, body)) as { body: { evaluations: Body[] } };
      return evaluations.map(({ decision }) => decision);
    };
    expect(await decisions(many("gus", "execute_all", album, 7, album, album))).toEqual([true, false, true, false]);
    expect(await decisions(many("hal", "deny_on_first_deny", { type: "note", id: "n" }, album, album, album, album))).toEqual([true, true, true, false]);
    expect(await decisions(many("ida", "permit_on_first_permit", album, album))).toEqual([true]);
    expect((await answered(deployed, viewing("ida"))).body.context!.limits![0]).toMatchObject({ remaining: 0, state: "charged" });
  });

  it("tell each key once in the fields", async () => {
    const response = await post(await limiting(), { body: JSON.stringify(many("jan", "execute_all", album, album, album)) }, EVALUATIONS);
    expect([response.status, response.headers.get("RateLimit-Policy")]).toEqual([200, expect.stringMatching(/^"views";[^,]*$/)]);
    expect(response.headers.get("RateLimit")).toMatch(/^"views";r=0;t=/);
    expect(response.headers.has("Retry-After")).toBe(true);
  });

  it("without a list are one", async () => {
    expect((await ask(await limiting(), EVALUATIONS, viewing("kim"))).body).toMatchObject({ decision: true, context: { limits: [{ remaining: 1 }] } });
  });
});

describe("a search under limits", () => {
  it("tells what the policies say, and charges nothing", async () => {
    const deployed = await limiting();
    const candidates = [{ type: "album", id: "a" }, { type: "album", id: "b" }, { type: "album", id: "c" }];
    const long = Object.fromEntries(Array.from({ length: 80 }, (_, at) => [`p${at}`, at]));
    for (const properties of [{}, long]) {
      const search = { subject: { type: "user", id: "leo", properties }, action: { name: "view" }, resource: { type: "album" }, candidates };
      expect(await ask(deployed, "/access/v1/search/resource", search)).toMatchObject({ status: 200, body: { results: candidates } });
      const subjects = { subject: { type: "user" }, action: { name: "view" }, resource: { ...candidates[0], properties }, candidates: [{ type: "user", id: "leo" }] };
      expect(await ask(deployed, "/access/v1/search/subject", subjects)).toMatchObject({ status: 200, body: { results: [{ id: "leo" }] } });
      const actions = { subject: { type: "user", id: "leo", properties }, resource: candidates[0] };
      const { body } = (await ask(deployed, "/access/v1/search/action", actions)) as { body: { results: { name: string }[] } };
      expect(body.results.map(({ name }) => name).sort()).toEqual(["edit", "share", "view"]);
    }
    expect((await answered(deployed, viewing("leo"))).body.context!.limits![0]).toMatchObject({ remaining: 1 });
  });
});

describe("while the objects are away", () => {
  it("each limit does what its `failure` says", async () => {
    const deployed = await limiting({ LIMITS: away, LIMITS_SHARE: 0.5 });
    const twice = async (action: string): Promise<unknown[]> => {
      const all = [await answered(deployed, viewing("mia", action)), await answered(deployed, viewing("mia", action))];
      return all.map(({ body: { decision, context } }) => [decision, context!.limits![0]!["state"]]);
    };
    expect(await twice("view")).toEqual([[true, "charged"], [false, "refused"]]);
    expect(await twice("share")).toEqual([[false, "store-away"], [false, "store-away"]]);
    expect(await twice("edit")).toEqual([[true, "store-away"], [true, "store-away"]]);
    expect((await answered(deployed, viewing("mia", "share"))).headers.get("Retry-After")).toBe("1");
  });
});

describe("a bundle with limits", () => {
  it("is refused without objects, by its name in the log and in the health", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const deployed = await limiting({ LIMITS: undefined });
    expect((await ask(deployed, EVALUATION, viewing("ned"))).status).toBe(503);
    const health = await send(deployed, "/health");
    expect([health.status, await health.json()]).toEqual([503, expect.objectContaining({ status: "not-ready", problem: "limits" })]);
    expect(log.mock.calls.flat().join()).toMatch(/rate limits/);
    log.mockRestore();
  });

  it("replaces one without, and is replaced by one", async () => {
    const deployed = await limiting();
    const revision = async (): Promise<unknown> => (await metrics(deployed))["policies"];
    await given.POLICIES_KV.put("limited", policies);
    expect((await ask(deployed, EVALUATION, reading)).body).toEqual({ decision: true });
    await given.POLICIES_KV.put("limited", limited);
    // This request polls after its response, and the next one has the new policies.
    await ask(deployed, EVALUATION, reading);
    expect(await revision()).toMatchObject({ revision: 2, status: "ok" });
    expect((await answered(deployed, viewing("oda"))).body).toMatchObject({ decision: true, context: { limits: [{ remaining: 1 }] } });
    await given.POLICIES_KV.put("limited", later);
    await ask(deployed, EVALUATION, reading);
    expect(await revision()).toMatchObject({ revision: 3, status: "ok" });
    expect((await ask(deployed, EVALUATION, reading)).body).toEqual({ decision: true });
  });

  it("in use before the objects were taken away is no door", async () => {
    const deployed = await limiting({ LIMITS: undefined });
    await given.POLICIES_KV.put("limited", policies);
    expect((await ask(deployed, EVALUATION, reading)).body).toEqual({ decision: true });
    await given.POLICIES_KV.put("limited", limited);
    await ask(deployed, EVALUATION, reading);
    expect((await ask(deployed, EVALUATION, viewing("pia"))).body).toEqual({ decision: false });
    expect(await (await send(deployed, "/health")).json()).toMatchObject({ status: "stale", problem: "limits" });
  });

  it("needs settings in their ranges", async () => {
    for (const wrong of [{ LIMITS_DEADLINE: 0 }, { LIMITS_DEADLINE: 0.5 }, { LIMITS_DEADLINE: "soon" }, { LIMITS_SHARE: 0 }, { LIMITS_SHARE: 2 }]) {
      expect((await ask(await limiting(wrong), EVALUATION, viewing("quy"))).body, JSON.stringify(wrong)).toMatchObject({ error: "not-configured" });
    }
  });
});
