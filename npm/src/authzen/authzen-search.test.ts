import { describe, expect, it } from "vitest";

import {
  AuthzenError,
  PageTokens,
  readActionSearch,
  readResourceSearch,
  readSubjectSearch,
  searchActions,
  searchResources,
  searchSubjects,
  type Directory,
  type Entity,
} from "./authzen.ts";
import { openSync } from "../pdp/open.ts";
import { fixture } from "../testing.ts";

const user = { type: "user", id: "ada" };
const record = { type: "record", id: "r1" };
const write = { name: "write" };
/** The search for the resources that `user` may write. */
const writing = { subject: user, action: write, resource: { type: "record" } };
const all = { from: 0, limit: 1000, most: 10_000 };
const owners = new Map(Array.from({ length: 700 }, (_, at) => [`r${at}`, at % 3 === 0 ? "ada" : "bob"]));
const records: Entity[] = [...owners].map(([id, owner]) => ({ type: "record", id, properties: { owner } }));
const directory: Directory = {
  subject: (type, id) => (type === "user" && ["ada", "bob"].includes(id) ? {} : undefined),
  resource: (type, id) => (type === "record" && owners.has(id) ? { owner: owners.get(id) } : undefined),
};
const pdp = openSync(fixture("authzen.bundle"), { trust: "unsigned" });

type Among = Partial<Parameters<typeof searchResources>[2]>;

/** Searches all records, unless told otherwise, and returns the resources that are found. */
function resources(body: object, among: Among = {}): ReturnType<typeof searchResources> {
  return searchResources(pdp, readResourceSearch(body), { candidates: records, window: all, ...among });
}

/** Returns the subjects that are found among the candidates. */
function subjects(body: object, candidates: readonly Entity[], among: Among = {}): readonly Entity[] {
  return searchSubjects(pdp, readSubjectSearch(body), { candidates, window: all, ...among }).results;
}

/** Returns the actions that are found. */
function actions(body: object, among: Among = {}): readonly object[] {
  return searchActions(pdp, readActionSearch(body), { window: all, ...among }).results;
}

function named(...names: string[]): object[] {
  return names.map((name) => ({ name }));
}

describe("a search", () => {
  const owned = [...owners].filter(([, owner]) => owner === "ada").map(([id]) => ({ type: "record", id }));

  it("finds resources as an evaluation would allow them", () => {
    const search = { subject: user, action: write, resource: { type: "record", id: "ignored" } };
    expect(resources(search)).toEqual({ results: owned, next: undefined });
    const bare = records.map(({ type, id }) => ({ type, id }));
    expect(resources(search, { candidates: bare, directory }).results).toEqual(owned);
    expect(resources(search, { candidates: bare }).results).toEqual([]);
  });

  it("continues where a page ended, for every window", () => {
    for (const [limit, most] of [[1, 1000], [7, 1000], [100, 50], [1000, 256], [234, 1000]] as const) {
      const found = [];
      let from: number | undefined = 0;
      while (from !== undefined) {
        const { results, next } = resources(writing, { window: { from, limit, most } });
        expect(results.length).toBeLessThanOrEqual(limit);
        found.push(...results);
        from = next;
      }
      expect(found).toEqual(owned);
    }
    expect(resources(writing, { window: { from: 0, limit: 0, most: 10 } })).toEqual({ results: [], next: 0 });
    expect(resources(writing, { window: { from: 5000, limit: 1, most: 10 } })).toEqual({ results: [], next: undefined });
  });

  it("finds subjects and actions", () => {
    const resource = { ...record, properties: { owner: "bob", office: "Paris" } };
    const candidates = ["ada", "bob", "eve"].map((id) => ({ type: "user", id }));
    expect(subjects({ subject: { type: "user" }, action: write, resource }, candidates)).toEqual([{ type: "user", id: "bob" }]);
    const request = { subject: { type: "user", id: "bob" }, resource, context: { office: "Paris" } };
    expect(actions(request)).toEqual(named("print", "read", "write"));
    expect(pdp.actions("record")).toEqual(["delete", "print", "read", "write"]);
    expect(() => pdp.actions(7 as unknown as string)).toThrow(TypeError);
    const elsewhere = readActionSearch({ ...request, resource: { type: "spaceship", id: "x" } });
    expect(searchActions(pdp, elsewhere, { window: all })).toEqual({ results: [], next: undefined });
  });

  it("finds no action by a pattern alone, but candidates that a pattern matches", () => {
    const body = { subject: user, resource: { type: "page", id: "p1" } };
    expect(actions(body)).toEqual(named("edit"));
    const candidates = named("view:public", "burn", "edit", "view:*");
    expect(actions({ ...body, candidates })).toEqual(named("view:public", "edit", "view:*"));
    expect(actions({ ...body, candidates: [] })).toEqual([]);
    for (const candidates of [["edit"], [{}], [{ name: 7 }], {}]) {
      expect(() => readActionSearch({ ...body, candidates }), JSON.stringify(candidates)).toThrow(AuthzenError);
    }
  });

  it("is refused with tokens that cannot be verified, as an evaluation is", () => {
    const context = { "cerbos.auxData": { jwt: { token: "forged" } } };
    const message = "tokens cannot be verified here";
    expect(() => resources({ ...writing, context })).toThrow(message);
    expect(() => subjects({ subject: { type: "user" }, action: write, resource: record, context }, records)).toThrow(message);
    expect(() => actions({ subject: user, resource: record, context })).toThrow(message);
  });

  it("finds nothing for unknown entities, unless the request describes them", () => {
    const eve = { type: "user", id: "eve" };
    const found = (subject: object): number => actions({ subject, resource: record }, { directory }).length;
    expect(found(user)).toBe(1);
    expect(found(eve)).toBe(0);
    expect(found({ ...eve, properties: {} })).toBe(1);
    const [read, nowhere] = [{ name: "read" }, { type: "record", id: "nowhere" }];
    expect(subjects({ subject: { type: "user" }, action: read, resource: nowhere }, [user], { directory })).toEqual([]);
    expect(resources({ subject: eve, action: read, resource: { type: "record" } }, { directory }).results).toEqual([]);
  });

  it("with a large body finds the same, in a bounded number of steps", () => {
    const much = Array.from({ length: 100 }, (_, at) => ({ at, text: `${at}` }));
    const [ada, first] = [{ ...user, properties: { much } }, { ...record, properties: { owner: "bob", much } }];
    const bob = { type: "user", id: "bob" };
    const searches = (maxSteps?: number) => [
      () => resources({ ...writing, subject: ada }, { maxSteps }).results,
      () => subjects({ subject: { type: "user" }, action: write, resource: first }, [user, bob], { maxSteps }),
      () => actions({ subject: ada, resource: first }, { maxSteps }),
    ];
    const found = [owned, [bob], named("read")];
    for (const [at, sought] of searches().entries()) expect(sought()).toEqual(found[at]);
    for (const sought of searches(3)) expect(sought).toThrow(new AuthzenError("the decisions of the search take more than 3 steps"));
    for (const sought of searches(-1)) expect(sought).toThrow(RangeError);
  });

  it("is refused if it is unreadable", () => {
    const check = (reading: (body: unknown) => unknown, body: object): void => {
      expect(() => reading(body), JSON.stringify(body)).toThrow(AuthzenError);
    };
    for (const reading of [readSubjectSearch, readResourceSearch, readActionSearch]) check(reading, { ...writing, subject: { type: "user" } });
    check(readSubjectSearch, { subject: { type: "user" }, resource: record });
    check(readSubjectSearch, { subject: {}, action: write, resource: record });
    check(readResourceSearch, { action: write, resource: { type: "record" } });
    check(readActionSearch, { subject: user });
    for (const page of [[], "x", { token: 1 }, { limit: 0 }, { limit: -1 }, { limit: 1.5 }, { limit: "1" }, { properties: 1 }]) {
      check(readResourceSearch, { ...writing, page });
    }
    for (const candidates of [{}, [1], [{}], [{ id: 1 }], [{ id: "x", type: "other" }], [{ id: "x", properties: [] }]]) {
      check(readResourceSearch, { ...writing, candidates });
    }
    expect(readResourceSearch({ ...writing, candidates: [{ id: "x" }] }).candidates).toEqual([{ type: "record", id: "x" }]);
  });
});

describe("a token", () => {
  const search = readResourceSearch({ ...writing, page: { limit: 2 } });
  const page = { from: 77, limit: 2 };
  let now = 1_000_000;
  const tokens = PageTokens.create(new Uint8Array(32).fill(7), () => now);

  it("stands for its page, for the same search by the same caller", async () => {
    const token = await (await tokens).write(search, "shop", page);
    expect(token).toMatch(/^[\w-]+$/);
    const again = { resource: { type: "record" }, action: write, subject: { id: "ada", type: "user" }, page: { token } };
    expect(await (await tokens).read(token, readResourceSearch(again), "shop")).toEqual(page);
    expect(await (await tokens).read(token, search, "shop")).toEqual(page);
  });

  it("is refused for any other search or caller", async () => {
    const token = await (await tokens).write(search, "shop", page);
    const check = async (changed: string, searching = search, caller = "shop"): Promise<void> => {
      await expect((await tokens).read(changed, searching, caller), changed).rejects.toThrow(AuthzenError);
    };
    for (let at = 0; at < token.length; at += 1) {
      await check(`${token.slice(0, at)}${token[at] === "A" ? "B" : "A"}${token.slice(at + 1)}`);
    }
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    // The unused bits of the last character do not allow another spelling.
    for (const beyond of [1, 2, 3]) await check(`${token.slice(0, -1)}${alphabet[alphabet.indexOf(token.slice(-1)) + beyond]}`);
    for (const changed of ["", "A", token.slice(1), `${token}A`, `${token}====`, "é".repeat(59), "A".repeat(9999)]) await check(changed);
    await check(token, search, "other");
    await check(token, { ...search, action: { name: "read" } });
    await check(token, { ...search, subject: { ...user, properties: { roles: ["admin"] } } });
    await check(token, { ...search, page: { token, limit: 3 } });
    await check(token, { ...search, page: { token, limit: 2, properties: { sort: "name" } } });
    await check(token, { ...search, candidates: [] });
    const other = await PageTokens.create(new Uint8Array(32).fill(8), () => now);
    await expect(other.read(token, search, "shop")).rejects.toThrow(AuthzenError);
    now += 3_600_000;
    await check(token);
  });

  it("requires a key of full length", async () => {
    await expect(PageTokens.create(new Uint8Array(31))).rejects.toThrow(RangeError);
  });
});
