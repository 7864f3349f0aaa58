// Common behaviour of all endpoints: paths, methods, callers, bodies, headers.

import { beforeAll, describe, expect, it } from "vitest";

import { alice, ask, deployment, EVALUATION, EVALUATIONS, fill, JSON_HEADERS, metrics, post, reading, record, send, sendTo } from "./testing.ts";

beforeAll(fill);

describe("an evaluation", () => {
  it("is answered", async () => {
    const deployed = deployment();
    expect(await ask(deployed, EVALUATION, reading)).toEqual({ status: 200, body: { decision: true } });
    const writing = { ...reading, subject: { type: "user", id: "bob" }, action: { name: "write" } };
    expect(await ask(deployed, EVALUATION, writing)).toEqual({ status: 200, body: { decision: false } });
    expect(await ask(deployed, EVALUATIONS, reading)).toEqual({ status: 200, body: { decision: true } });
    const both = { ...reading, evaluations: [{}, { action: { name: "fly" } }, { resource: 7 }] };
    const { status, body } = await ask(deployed, EVALUATIONS, both);
    expect(status).toBe(200);
    expect(body).toMatchObject({ evaluations: [{ decision: true }, { decision: false }, { decision: false }] });
  });

  it("uses the index, and the request takes precedence", async () => {
    const deployed = deployment();
    const viewing = { subject: { type: "user", id: "carol" }, action: { name: "view" }, resource: { type: "record", id: "102" } };
    expect((await ask(deployed, EVALUATION, viewing)).body).toEqual({ decision: true });
    const moved = { ...viewing, subject: { ...viewing.subject, properties: { department: "Sales" } } };
    expect((await ask(deployed, EVALUATION, moved)).body).toEqual({ decision: false });
    expect((await ask(deployment({ INDEX: undefined }), EVALUATION, viewing)).body).toEqual({ decision: false });
  });

  it("is refused if it is unreadable", async () => {
    const deployed = deployment();
    for (const body of ["", "{", "[]", "null", '"x"', {}, { ...reading, subject: "alice" }, { ...reading, action: { name: 123 } }]) {
      const answer = await ask(deployed, EVALUATION, body);
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 400, body: { error: "bad-request" } });
    }
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "application/jsonp", "application/json charset=utf-8", "application/json; =", ""]) {
      expect((await post(deployed, { headers: { ...JSON_HEADERS, "Content-Type": type } })).status, type).toBe(400);
    }
    for (const type of ["application/json; charset=utf-8", "application/json;", "Application/JSON ;\tcharset=\"UTF-8\" ; v=1", "application/json;profile=\"a b\"", " application/json "]) {
      expect((await post(deployed, { headers: { ...JSON_HEADERS, "Content-Type": type } })).status, type).toBe(200);
    }
    const doubled = JSON.stringify(reading).replace("{", '{"subject":{"type":"user","id":"bob"},');
    expect(await ask(deployed, EVALUATION, doubled)).toMatchObject({ status: 400, body: { message: "duplicate member `subject` in an object" } });
    const broken = new Uint8Array([0x22, 0xff, 0x22]);
    expect((await post(deployed, { body: broken })).status).toBe(400);
    expect((await send(deployed, EVALUATION, { method: "POST", headers: JSON_HEADERS })).status).toBe(400);
  });

  it("is refused while it is read, once it is too large", async () => {
    const deployed = deployment();
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(65_536).fill(0x20));
      },
    });
    const response = await post(deployed, { body: endless });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ error: "too-large" });
    // 17 MiB and a few chunks in flight, not the whole body.
    expect(sent).toBeLessThan(300);
    const large = { ...reading, context: { text: "x".repeat(2 ** 20) } };
    expect((await ask(deployed, EVALUATION, large)).status).toBe(413);
  });
});

describe("a request", () => {
  it("reaches only existing endpoints, by the right method", async () => {
    const deployed = deployment();
    for (const path of ["/", "/access/v1", "/access/v1/evaluation/", "/access/v2/evaluation", "/ACCESS/v1/evaluation", "//health"]) {
      expect((await send(deployed, path)).status, path).toBe(404);
    }
    for (const method of ["GET", "PUT", "DELETE", "OPTIONS", "HEAD"]) {
      const response = await send(deployed, EVALUATION, { method, headers: JSON_HEADERS });
      expect([response.status, response.headers.get("Allow")], method).toEqual([405, "POST"]);
    }
    expect((await send(deployed, "/health", { method: "POST" })).status).toBe(405);
    expect((await send(deployed, "/health", { method: "HEAD" })).status).toBe(200);
  });

  it("gets its id back in every response", async () => {
    const deployed = deployment();
    const id = "bfe9eb29-ab87; \"x\"";
    for (const [path, init] of [
      [EVALUATION, { method: "POST", headers: JSON_HEADERS, body: JSON.stringify(reading) }],
      [EVALUATION, { method: "POST", headers: JSON_HEADERS, body: "{" }],
      [EVALUATION, { method: "POST" }],
      ["/nowhere", {}],
      ["/health", {}],
    ] as [string, RequestInit][]) {
      const headers = { ...init.headers, "X-Request-ID": id };
      expect((await send(deployed, path, { ...init, headers })).headers.get("X-Request-ID"), path).toBe(id);
    }
    expect((await send(deployment({ BUNDLE: undefined }), "/health", { headers: { "X-Request-ID": id } })).headers.get("X-Request-ID")).toBe(id);
    expect((await send(deployed, "/health")).headers.get("X-Request-ID")).toBe(null);
  });

  it("is never cached", async () => {
    const response = await post(deployment());
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(response.headers.get("Content-Type")).toBe("application/json");
  });

  it("gets an error for an unreadable index, instead of a decision without it", async () => {
    const INDEX = { get: () => Promise.reject(new Error("KV is away")) };
    expect(await ask(deployment({ INDEX }), EVALUATION, reading)).toMatchObject({ status: 503, body: { error: "not-ready" } });
    const full = (entities: number): object[] => Array.from({ length: entities }, (_, id) => ({ id: `${id}` }));
    for (const [name, entities, status] of [
      ["broken", [{ id: 7 }], 503],
      ["doubled", [{ id: "a" }, { id: "b" }, { id: "a" }], 503],
      ["too large", full(50_001), 503],
      ["large", full(50_000), 200],
    ] as const) {
      const INDEX = { get: () => Promise.resolve(new Response(JSON.stringify(entities)).body) };
      expect((await ask(deployment({ INDEX }), EVALUATION, reading)).status, name).toBe(status);
    }
    const many = Array.from({ length: 40 }, (_, at) => ({ resource: { type: `kind${at}`, id: "x" } }));
    const body = { subject: alice, action: { name: "read" }, evaluations: many };
    expect((await ask(deployment(), EVALUATIONS, body)).status).toBe(400);
  });
});

describe("the metadata", () => {
  it("names the endpoints below the requested or configured URL", async () => {
    const read = async (deployed: ReturnType<typeof deployment>, path: string): Promise<unknown> => (await send(deployed, path)).json();
    const path = "/.well-known/authzen-configuration";
    expect(await read(deployment(), path)).toMatchObject({
      policy_decision_point: "https://pdp.example.com",
      access_evaluation_endpoint: "https://pdp.example.com/access/v1/evaluation",
      search_action_endpoint: "https://pdp.example.com/access/v1/search/action",
    });
    expect(await read(deployment({ INDEX: undefined }), path)).toEqual({
      policy_decision_point: "https://pdp.example.com",
      access_evaluation_endpoint: "https://pdp.example.com/access/v1/evaluation",
      access_evaluations_endpoint: "https://pdp.example.com/access/v1/evaluations",
      search_action_endpoint: "https://pdp.example.com/access/v1/search/action",
    });
    const tenant = deployment({ PDP_URL: "https://decide.example.com/tenant1/" });
    expect(await read(tenant, `${path}/tenant1`)).toMatchObject({ policy_decision_point: "https://decide.example.com/tenant1" });
    expect((await send(tenant, path)).status).toBe(404);
    expect(await ask(tenant, `/tenant1${EVALUATION}`, reading)).toEqual({ status: 200, body: { decision: true } });
    expect((await ask(tenant, EVALUATION, reading)).status).toBe(404);
  });
});

describe("an unverified host", () => {
  const path = "/.well-known/authzen-configuration";

  it("is not repeated in the metadata", async () => {
    const foreign = await sendTo(deployment(), `https://evil.example${path}`, {});
    expect([foreign.status, await foreign.text()]).toEqual([404, expect.not.stringContaining("evil")]);
    const named = await sendTo(deployment({ PDP_URL: "https://pdp.example.com" }), `http://evil.example${path}`, {});
    expect(await named.json()).toMatchObject({ policy_decision_point: "https://pdp.example.com" });
    const plain = await sendTo(deployment(), `http://pdp.example.com${path}`, { cf: {} } as RequestInit);
    expect(await plain.json()).toMatchObject({ policy_decision_point: "https://pdp.example.com" });
    const local = await sendTo(deployment(), `http://127.0.0.1:8787${path}`, {});
    expect(await local.json()).toMatchObject({ policy_decision_point: "http://127.0.0.1:8787" });
  });

  it("is no URL of a PDP without TLS", async () => {
    expect((await send(deployment({ PDP_URL: "http://pdp.example.com" }), "/health")).status).toBe(503);
    expect((await send(deployment({ PDP_URL: "http://localhost:8787" }), "/health")).status).toBe(200);
  });
});

describe("the metrics", () => {
  it("are for callers, and are counted", async () => {
    const points: unknown[] = [];
    const METRICS = { writeDataPoint: (point: unknown) => points.push(point) };
    const deployed = deployment({ METRICS });
    await ask(deployed, EVALUATION, reading);
    await ask(deployed, EVALUATION, { ...reading, action: { name: "fly" } });
    await send(deployed, "/nowhere");
    expect((await send(deployed, "/metrics")).status).toBe(401);
    expect(await metrics(deployed)).toMatchObject({
      requests: { "evaluation 200": 2, "unknown 404": 1, "metrics 401": 1 },
      decisions: { allowed: 1, denied: 1 },
      policies: { status: "ok", revision: 1 },
      log: { lost: 0 },
    });
    expect(points).toHaveLength(5);
    expect(points[0]).toMatchObject({ indexes: ["evaluation"], blobs: ["evaluation", "200"] });
    expect(JSON.stringify(points)).not.toContain(record.id);
  });
});
