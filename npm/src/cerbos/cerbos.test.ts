// Code that was written for clients of Cerbos, with a PDP in their place. The classes of answers of `@cerbos/core` are
// the oracle of ours. `@cerbos/react` calls a client as the last group does.

import * as core from "@cerbos/core";
import { HTTP } from "@cerbos/http";
import { describe, expect, it } from "vitest";

import { Cerbos, CheckResourcesResponse, CheckResourcesResult, NotOK, ValidationFailed, type CerbosOptions } from "./cerbos.ts";
import { open } from "../pdp/open.ts";
import { atNoon, fixture, openAlbum } from "../testing.ts";

const pdp = await openAlbum();
const cerbos = new Cerbos(pdp);
const principal = { id: "ada", roles: ["user"], attr: { tier: "PREMIUM" } };
const resource = { kind: "album", id: "a1", attr: { owner: "ada" } };

/** Programs from the pages of `@cerbos/http` and `@cerbos/core`, about albums. */
const programs = (client: core.Client) => ({
  isAllowed: () => client.isAllowed({ principal, resource, action: "view" }),
  checkResource: async () => {
    const decision = await client.checkResource({ principal, resource, actions: ["view", "burn"] });
    return [decision.isAllowed("view"), decision.isAllowed("burn"), decision.isAllowed("edit"), decision.allAllowed(), decision.allowedActions()];
  },
  checkResources: async () => {
    const decision = await client.checkResources({
      principal,
      resources: [
        { resource, actions: ["view", "edit"] },
        { resource: { kind: "image", id: "1", attr: { owner: "ada" } }, actions: ["delete"] },
      ],
    });
    return [
      decision.isAllowed({ resource: { kind: "album", id: "a1" }, action: "view" }),
      decision.allAllowed({ kind: "image", id: "1" }),
      decision.allowedActions({ kind: "album", id: "a1" }),
      decision.findResult({ kind: "album", id: "a2" }),
    ];
  },
  withPrincipal: () => client.withPrincipal(principal).isAllowed({ resource, action: "edit" }),
  effects: async () => (await client.checkResource({ principal, resource, actions: ["view"] })).actions["view"] === core.Effect.ALLOW,
});

describe("a program for clients of Cerbos", () => {
  const ours = programs(cerbos as unknown as core.Client);

  it("has its answers", async () => {
    expect([await ours.isAllowed(), await ours.withPrincipal(), await ours.effects()]).toEqual([true, true, true]);
    expect(await ours.checkResource()).toEqual([true, false, undefined, false, ["view"]]);
    expect(await ours.checkResources()).toEqual([true, false, ["view", "edit"], undefined]);
  });

  it("calls only methods that both clients have", () => {
    const theirs = new HTTP("http://127.0.0.1:9");
    for (const name of ["isAllowed", "checkResource", "checkResources", "planResources", "withPrincipal"] as const) {
      expect([name, typeof theirs[name], typeof cerbos[name]]).toEqual([name, "function", "function"]);
    }
  });
});

describe("an answer", () => {
  const decided = () => cerbos.checkResource({ principal, resource, actions: ["view", "edit", "echo", "burn"], includeMetadata: true });

  it("has the members of the answer of Cerbos, and its methods say the same", async () => {
    const found = await decided();
    const theirs = new core.CheckResourcesResult({ ...found } as never);
    expect(Object.keys(found).sort()).toEqual(Object.keys(theirs).sort());
    for (const action of ["view", "edit", "burn", "none"]) expect(found.isAllowed(action)).toBe(theirs.isAllowed(action));
    expect([found.allAllowed(), found.allowedActions(), found.output("resource.album.vdefault#echo")])
      .toEqual([theirs.allAllowed(), theirs.allowedActions(), theirs.output("resource.album.vdefault#echo")]);
    expect(found.output("resource.album.vdefault#echo")).toEqual({ owner: "ada" });
    expect(found).toBeInstanceOf(CheckResourcesResult);
  });

  it("has metadata on request", async () => {
    expect((await decided()).metadata?.actions["view"]).toEqual({ matchedPolicy: "resource.album.vdefault", matchedScope: "" });
    expect((await cerbos.checkResource({ principal, resource, actions: ["view"] })).metadata).toBeUndefined();
  });

  it("is found by kind, id, and by version and scope if they are given", async () => {
    const response = await cerbos.checkResources({ principal, requestId: "r1", resources: [{ resource: { ...resource, scope: "acme" }, actions: ["view"] }] });
    const theirs = new core.CheckResourcesResponse({ ...response } as never);
    for (const search of [{}, { scope: "acme" }, { scope: "" }, { policyVersion: "" }, { policyVersion: "2" }, { id: "a2" }]) {
      const asked = { kind: "album", id: "a1", ...search };
      expect(response.findResult(asked)).toBe(theirs.findResult(asked) as unknown);
    }
    expect([response.requestId, response.cerbosCallId]).toEqual(["r1", ""]);
    expect(response).toBeInstanceOf(CheckResourcesResponse);
  });

  it("has its attributes under either name", async () => {
    const { attr, ...rest } = resource;
    expect(await cerbos.isAllowed({ principal, resource: { ...rest, attributes: attr }, action: "edit" })).toBe(true);
  });
});

describe("an error", () => {
  const refused = async (work: Promise<unknown>): Promise<unknown> => work.then(() => "no error", (error: unknown) => error);

  it("is one of Cerbos, with its code", async () => {
    const found = await refused(cerbos.isAllowed({ principal: { ...principal, roles: "user" as never }, resource, action: "view" }));
    expect(found).toBeInstanceOf(NotOK);
    expect(found).toMatchObject({ name: "NotOK", code: core.Status.INVALID_ARGUMENT, details: "principal.roles must be an array of strings, found string" });
    expect(String(found)).toBe(String(new core.NotOK(3, "principal.roles must be an array of strings, found string")).replace(/^Error/, "NotOK"));
    expect(await refused(cerbos.checkResources({ principal, resources: [] }))).toMatchObject({ code: 3 });
    expect(await refused(cerbos.checkResource({ principal, resource, actions: [] }))).toMatchObject({ code: 3 });
    expect(await refused(cerbos.planResources())).toMatchObject({ code: core.Status.UNIMPLEMENTED });
    expect(await refused(new Cerbos(() => Promise.reject(new Error("lost"))).isAllowed({ principal, resource, action: "view" }))).toMatchObject({ code: core.Status.INTERNAL });
  });

  it("is the reason of a signal that ended the call", async () => {
    expect(await refused(cerbos.isAllowed({ principal, resource, action: "view" }, { signal: AbortSignal.abort("gone") }))).toBe("gone");
  });

  it("is one of schemas on request", async () => {
    using strict = await open(fixture("schemas.bundle"), atNoon);
    const request = { principal, resource: { kind: "doc", id: "d1", attr: { owner: 7 } }, actions: ["own"] };
    const errors: unknown[] = [];
    const client = (onValidationError?: CerbosOptions["onValidationError"]) => new Cerbos(strict, { onValidationError });
    expect((await client().checkResource(request)).validationErrors.length).toBeGreaterThan(0);
    expect(await refused(client("throw").checkResource(request))).toBeInstanceOf(ValidationFailed);
    await client((found) => errors.push(...found)).checkResource(request);
    expect(errors).toEqual([...(await client().checkResource(request)).validationErrors]);
  });

  it("comes when the client is made of something else", () => {
    expect(() => new Cerbos("http://localhost:3592" as never)).toThrow(new TypeError("the PDP must be one that `open` returned, or a function, found string"));
    expect(() => new Cerbos(pdp, { onValidationErorr: "throw" } as never)).toThrow("did you mean `onValidationError`?");
  });
});

describe("a token", () => {
  const request = { principal, resource, action: "view", auxData: { jwt: { token: "abc" } } };

  it("is verified by the caller, and refused without that", async () => {
    await expect(cerbos.isAllowed(request)).rejects.toMatchObject({ code: 3 });
    const tokens: unknown[] = [];
    const verifying = new Cerbos(pdp, { decodeJWTPayload: async (token) => (tokens.push(token), { sub: "ada" }) });
    expect(await verifying.isAllowed(request)).toBe(true);
    expect(await verifying.isAllowed({ ...request, auxData: { jwts: { one: { token: "x", keySetId: "k" } } } })).toBe(true);
    expect(tokens).toEqual([{ token: "abc" }, { token: "x", keySetId: "k" }]);
    const failing = new Cerbos(pdp, { decodeJWTPayload: () => { throw new Error("expired"); } });
    await expect(failing.isAllowed(request)).rejects.toMatchObject({ code: 3, details: "a token was not verified" });
  });

  it("is that of the principal if the request has none", async () => {
    const tokens: string[] = [];
    const client = new Cerbos(pdp, { decodeJWTPayload: ({ token }) => (tokens.push(token), {}) }).withPrincipal(principal, { jwt: { token: "own" } });
    await client.isAllowed({ resource, action: "view" });
    await client.isAllowed({ resource, action: "view", auxData: { jwt: { token: "other" } } });
    expect(tokens).toEqual(["own", "other"]);
  });
});

describe("the calls of the hooks for React", () => {
  it("are answered, with a signal that changes when policies do", async () => {
    using own = await openAlbum();
    const client = new Cerbos(own).withPrincipal(principal, undefined);
    const { signal } = new AbortController();
    const before = client.client["~updateSignal"];
    expect(await client["isAllowed"]({ resource, action: "view" }, { signal })).toBe(true);
    expect((await client["checkResource"]({ resource, actions: ["view"] }, { signal })).allAllowed()).toBe(true);
    expect((await client["checkResources"]({ resources: [{ resource, actions: ["view"] }] }, { signal })).isAllowed({ resource, action: "view" })).toBe(true);
    own.reload(fixture("closed.bundle"));
    expect(client.client["~updateSignal"]).not.toBe(before);
    expect(await client["isAllowed"]({ resource, action: "view" }, { signal })).toBe(false);
  });
});
