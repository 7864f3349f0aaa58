// Reading requests: the refusals and their messages. `explain` reads whole requests;
// `encode-request.test.ts` tests that `isAllowed` ignores members that it does not need.

import { describe, expect, it } from "vitest";

import { runtimeNow } from "../wasm/module.ts";
import { openAlbum, thrownBy, viewing } from "../testing.ts";
import type { ActionRequest } from "./request-types.ts";

const pdp = await openAlbum();

function refused(request: unknown, message: string, kind: new () => Error = TypeError): void {
  const thrown = thrownBy(() => pdp.explain(request as ActionRequest));
  expect(thrown).toBeInstanceOf(kind);
  expect((thrown as Error).message).toBe(message);
}

/** Reads a resource with these attributes. */
function explain(attr: unknown): void {
  pdp.explain(viewing({ resource: { attr } }));
}

/** Checks that the value is refused as an attribute of the resource. */
function refusedAttribute(value: unknown, message: string, kind?: new () => Error): void {
  refused(viewing({ resource: { attr: { x: value } } }), message, kind);
}

describe("a request", () => {
  it("must be an object with the names of the API", () => {
    refused(undefined, "request must be an object, found undefined");
    refused([], "request must be an object, found array");
    refused({}, "principal must be an object, found undefined");
    const [inRequest, inResource] = ["principal, resource, action, auxData, requestId", "kind, id, attr, policyVersion, scope"];
    refused(viewing({ request: { context: {} } }), `unknown field \`context\` in request, expected one of ${inRequest}`);
    refused(viewing({ resource: { attrs: {} } }), `unknown field \`attrs\` in resource, expected one of ${inResource}`);
  });

  it("names the field that is of the wrong kind", () => {
    refused(viewing({ principal: { roles: 3 } }), "principal.roles must be an array of strings, found number");
    refused(viewing({ principal: { roles: ["a", null] } }), "principal.roles[1] must be a string, found null");
    refused(viewing({ principal: { id: 7n } }), "principal.id must be a string, found bigint");
    refused(viewing({ resource: { scope: null } }), "resource.scope must be a string, found null");
    refused(viewing({ request: { action: ["view"] } }), "action must be a string, found array");
    refused(viewing({ request: { auxData: { jwt: "eyJ" } } }), "auxData.jwt must be an object, found string");
  });

  it("takes an absent field and an undefined one for the same", () => {
    const nothing = { attr: undefined, scope: undefined, policyVersion: undefined };
    expect(pdp.isAllowed(viewing({ principal: nothing, resource: nothing }))).toBe(true);
  });

  it("does not inherit fields", () => {
    const inherited = Object.create({ roles: ["user"] }) as object;
    refused({ ...viewing(), principal: Object.assign(inherited, { id: "ada" }) },
      "principal.roles must be an array of strings, found undefined");
  });
});

describe("an attribute", () => {
  it("must be a value that JSON can hold", () => {
    refusedAttribute(1n, "resource.attr.x must be a JSON value, found bigint");
    refusedAttribute(() => 1, "resource.attr.x must be a JSON value, found function");
    refusedAttribute(Symbol("s"), "resource.attr.x must be a JSON value, found symbol");
    refusedAttribute(new WeakSet(), "resource.attr.x must be a JSON value, found WeakSet");
    refusedAttribute(new Set([1, new Set([2, 3n])]), "resource.attr.x[1][1] must be a JSON value, found bigint");
    refusedAttribute(/re/, "resource.attr.x must be a JSON value, found RegExp");
    refusedAttribute(new Uint8Array(2), "resource.attr.x must be a JSON value, found Uint8Array");
    refusedAttribute([1, undefined], "resource.attr.x[1] must be a JSON value, found undefined");
    refusedAttribute(Number.NaN, "resource.attr.x must be a finite number, found NaN");
    refusedAttribute({ y: -Infinity }, "resource.attr.x.y must be a finite number, found Infinity");
    refusedAttribute(new Date(Number.NaN), "resource.attr.x must be a point in time, found an invalid Date");
    refusedAttribute(new Map([[1, 2]]), "keys of resource.attr.x must be strings, found number");
  });

  it("is named by its path, quoted where JavaScript would quote it", () => {
    refusedAttribute({ "two words": [0, { "1st": Number.NaN }] },
      'resource.attr.x["two words"][1]["1st"] must be a finite number, found NaN');
  });

  it("must be whole text, as a value and as a name", () => {
    refusedAttribute("\ud800", "resource.attr.x must be well-formed text, found half a surrogate pair");
    refusedAttribute({ "\udc00": 1 }, "resource.attr.x must be well-formed text, found half a surrogate pair");
    expect(pdp.isAllowed(viewing({ resource: { attr: { x: "\ufffd \u{1f5dd}" } } }))).toBe(true);
  });

  it("may not contain itself, or nest without end", () => {
    const self: unknown[] = [];
    self.push(self);
    expect(() => explain({ self })).toThrow(/^resource\.attr\.self\[0\].{39}\.\.\. nests deeper than 64 levels, or contains itself$/);
  });

  it("may not unfold into more than a request may hold", () => {
    let shared: unknown = [0, 0];
    for (let level = 0; level < 40; level += 1) shared = [shared, shared];
    expect(() => explain({ shared })).toThrow(RangeError);
    const long = "x".repeat(9 << 20);
    const message = "resource.attr.b is past the 16777216 bytes that a request may hold";
    expect(() => explain({ a: long, b: long })).toThrow(new RangeError(message));
  });

  it("that throws when it is read passes its own error on", () => {
    const error = new Error("not today");
    const attr = { get x(): never { throw error; } };
    expect(() => explain(attr)).toThrow(error);
    const proxy = new Proxy({}, { ownKeys: () => { throw error; } });
    expect(() => explain({ proxy })).toThrow(error);
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("may be a list with any length property", () => {
    const error = new Error("not today");
    const list = (length: unknown): unknown => new Proxy([1], {
      get: (target, name) => (name === "length" ? length : Reflect.get(target, name)),
    });
    refusedAttribute(list(undefined), "resource.attr.x must be an array, found one without length");
    refused(viewing({ principal: { roles: list(null) } }), "principal.roles must be an array, found one without length");
    refusedAttribute(list(-1), "resource.attr.x[1] must be a JSON value, found undefined");
    expect(() => explain({ x: list(1n) })).toThrow(TypeError);
    const costly = list({ valueOf: () => { throw error; } });
    expect(() => explain({ costly })).toThrow(error);
    const throwing = new Proxy([1], { get: () => { throw error; } });
    expect(() => explain({ throwing })).toThrow(error);
    expect(pdp.isAllowed(viewing({ principal: { roles: list(0) } }))).toBe(false);
    expect(pdp.isAllowed(viewing())).toBe(true);
    expect(runtimeNow().generation).toBe(0);
  });

  it("may use the PDP again while it is read", () => {
    const attr = { get x(): boolean { return pdp.isAllowed(viewing()); } };
    expect(pdp.isAllowed(viewing({ resource: { attr } }))).toBe(true);
  });
});
