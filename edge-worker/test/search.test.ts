// Searches over the index and over candidates of the caller, page by page.

import { beforeAll, describe, expect, it } from "vitest";

import type { Env } from "../src/env.ts";
import { alice, ask, bob, deployment, fill, given, record } from "./testing.ts";

beforeAll(fill);

const SUBJECT = "/access/v1/search/subject";
const RESOURCE = "/access/v1/search/resource";
const ACTION = "/access/v1/search/action";

async function results(path: string, body: object, deployed: Env = deployment()): Promise<unknown> {
  const answer = await ask(deployed, path, body);
  return answer.status === 200 ? (answer.body as { results: unknown }).results : answer;
}

const ids = (found: unknown): string[] => (found as { id: string }[]).map(({ id }) => id);

describe("a search", () => {
  it("finds the entities that an evaluation allows", async () => {
    const view = { action: { name: "view" }, resource: { type: "record", id: "101" } };
    expect(await results(SUBJECT, { subject: { type: "user" }, ...view })).toEqual(
      ["alice", "bob", "carol", "dan"].map((id) => ({ type: "user", id })),
    );
    const deleting = { subject: { type: "user", id: "erin" }, action: { name: "delete" }, resource: { type: "record" } };
    expect(ids(await results(RESOURCE, deleting))).toEqual(["105", "111", "117"]);
    expect(await results(ACTION, { subject: alice, resource: { type: "record", id: "101" } })).toEqual([
      { name: "delete" },
      { name: "edit" },
      { name: "view" },
    ]);
    expect(await results(ACTION, { subject: alice, resource: record })).toEqual([{ name: "read" }, { name: "write" }]);
  });

  it("ignores the id of the searched entity", async () => {
    const read = { action: { name: "read" }, resource: record };
    expect(ids(await results(SUBJECT, { subject: alice, ...read }))).toEqual(["alice", "bob"]);
    expect(ids(await results(RESOURCE, { subject: bob, ...read }))).toEqual(["record-1", "record-2"]);
  });

  it("takes properties from the request", async () => {
    const admin = { type: "user", id: "carol", properties: { role: "admin" } };
    const archived = { type: "record", id: "record-2", properties: { status: "archived" } };
    expect(ids(await results(RESOURCE, { subject: admin, action: { name: "write" }, resource: { type: "record" } }))).toEqual(["record-2"]);
    expect(ids(await results(SUBJECT, { subject: { type: "user" }, action: { name: "write" }, resource: archived }))).toEqual(["bob"]);
    expect(await results(ACTION, { subject: admin, resource: archived })).toContainEqual({ name: "write" });
  });

  it("searches the candidates of the caller", async () => {
    const candidates = [
      { id: "a", properties: { owner: "alice" } },
      { type: "record", id: "b", properties: { owner: "bob" } },
      { id: "107" },
    ];
    const search = { subject: alice, action: { name: "delete" }, resource: { type: "record" }, candidates };
    expect(ids(await results(RESOURCE, search))).toEqual(["a", "107"]);
    expect(ids(await results(RESOURCE, search, deployment({ INDEX: undefined })))).toEqual(["a"]);
    expect(ids(await results(RESOURCE, { ...search, candidates: [] }))).toEqual([]);
    expect(await results(RESOURCE, { ...search, candidates: [{ type: "user", id: "a" }] })).toMatchObject({ status: 400 });
    for (const [path, body] of [[RESOURCE, { ...search, candidates: undefined }], [SUBJECT, { subject: { type: "user" }, action: { name: "read" }, resource: record }]] as const) {
      expect(await results(path, body, deployment({ INDEX: undefined }))).toMatchObject({ status: 501, body: { error: "no-index" } });
    }
  });

  it("finds nothing for unknown entities", async () => {
    const read = { name: "read" };
    const nobody = { type: "user", id: "nonexistent-user" };
    expect(await results(ACTION, { subject: nobody, resource: record })).toEqual([]);
    expect(await results(ACTION, { subject: alice, resource: { type: "record", id: "nowhere" } })).toEqual([]);
    expect(await results(ACTION, { subject: alice, resource: { type: "spaceship", id: "x" } })).toEqual([]);
    expect(await results(SUBJECT, { subject: { type: "spaceship" }, action: read, resource: record })).toEqual([]);
    expect(await results(SUBJECT, { subject: { type: "user" }, action: read, resource: { type: "record", id: "nowhere" } })).toEqual([]);
    expect(await results(SUBJECT, { subject: { type: "user" }, action: { name: "fly" }, resource: record })).toEqual([]);
    expect(await results(RESOURCE, { subject: nobody, action: read, resource: { type: "record" } })).toEqual([]);
    expect(await results(RESOURCE, { subject: alice, action: read, resource: { type: "s".repeat(600) } })).toEqual([]);
  });

  it("answers the identity provider of the interoperability scenario", async () => {
    const suite = JSON.parse(given.INTEROP_IDP || '{"search": []}') as { search: { request: object; expected: { results: unknown } }[] };
    if (suite.search.length === 0) console.warn("skipped: the payloads of the scenario are not on this machine");
    for (const { request, expected } of suite.search) expect(await results(RESOURCE, request)).toEqual(expected.results);
  });
});

describe("a page", () => {
  const search = { subject: { type: "user", id: "alice" }, action: { name: "view" }, resource: { type: "record" } };
  interface Paged {
    readonly page?: { readonly next_token: string; readonly count: number };
    readonly results: readonly { readonly id: string }[];
  }

  it("follows the other until all is found", async () => {
    const deployed = deployment();
    const all = ids(await results(RESOURCE, search, deployed));
    expect(all).toHaveLength(20);
    for (const limit of [1, 7, 19, 20, 21, 5000]) {
      const found: string[] = [];
      let token: string | undefined;
      do {
        const page = token === undefined ? { limit } : { token, ...(limit % 2 === 1 && { limit }) };
        const { body } = await ask(deployed, RESOURCE, { ...search, page });
        const { page: said, results } = body as Paged;
        expect(said?.count).toBe(results.length);
        expect(results.length).toBeLessThanOrEqual(limit);
        found.push(...results.map(({ id }) => id));
        token = said?.next_token;
      } while (token !== "");
      expect(found).toEqual(all);
    }
  });

  it("is present only if it is requested or needed", async () => {
    expect((await ask(deployment(), RESOURCE, search)).body).not.toHaveProperty("page");
    expect((await ask(deployment(), RESOURCE, { ...search, page: {} })).body).toMatchObject({ page: { next_token: "", count: 20 } });
    const bare = await ask(deployment({ PAGE_KEY: undefined }), RESOURCE, { ...search, page: { limit: 1 } });
    expect(bare.body).not.toHaveProperty("page");
    expect((bare.body as Paged).results).toHaveLength(20);
    expect(await ask(deployment(), RESOURCE, { ...search, page: { limit: 0 } })).toMatchObject({ status: 400 });
  });

  it("belongs to its search, its caller and its key", async () => {
    const deployed = deployment({ AUTH_TOKENS: { tests: "a-token-for-the-tests" } });
    const first = await ask(deployed, RESOURCE, { ...search, page: { limit: 2 } });
    const token = (first.body as Paged).page?.next_token ?? "";
    const refused = { status: 400, body: { error: "bad-request", message: "`page.token` is not a token for this search" } };
    expect(await ask(deployed, RESOURCE, { ...search, subject: bob, page: { token } })).toEqual(refused);
    expect(await ask(deployed, RESOURCE, { ...search, page: { token, limit: 20 } })).toEqual(refused);
    expect(await ask(deployed, RESOURCE, { ...search, page: { token, properties: { sort: "id" } } })).toEqual(refused);
    expect(await ask(deployed, RESOURCE, { ...search, context: { more: true }, page: { token } })).toEqual(refused);
    expect(await ask(deployed, RESOURCE, { ...search, page: { token: `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}` } })).toEqual(refused);
    expect(await ask(deployed, ACTION, { subject: alice, resource: record, page: { token } })).toEqual(refused);
    expect(await ask(deployment({ PAGE_KEY: "q".repeat(43) }), RESOURCE, { ...search, page: { token } })).toEqual(refused);
    expect(await ask(deployment({ AUTH_TOKENS: { other: "a-token-for-the-tests" } }), RESOURCE, { ...search, page: { token } })).toEqual(refused);
    expect((await ask(deployed, RESOURCE, { ...search, page: { token } })).status).toBe(200);
  });
});
