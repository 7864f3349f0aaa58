// Misspelt members: `policy_version`, for example, would select policies, and the wrong ones are
// selected.

import { describe, expect, it } from "vitest";

import { openSync } from "./open.ts";
import { fixture } from "../testing.ts";
import type { Principal, Resource } from "./request-types.ts";
import type { Target } from "./types.ts";

const pdp = openSync(fixture("authzen.bundle"), { trust: "unsigned" });
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "record", id: "r1" };
const request = { principal, action: "read", resource };
const rows = Array.from({ length: 20 }, () => resource);
const target = { kind: "record", action: "read" };

describe("a misspelt member", () => {
  const members = [{ policy_version: "2" }, { Scope: "acme" }, { policyversion: undefined }, { attrs: {} }];

  it.each(members)("of a principal is refused by methods that read it once: %j", (member) => {
    const misspelt = { ...principal, ...member } as Principal;
    const message = `unknown field \`${Object.keys(member)[0]}\` in principal`;
    expect(() => pdp.check({ principal: misspelt, actions: ["read"], resource })).toThrow(message);
    expect(() => pdp.for(misspelt).isAllowed("read", resource)).toThrow(message);
    expect(() => pdp.for(misspelt).prepare(target).isAllowed(resource)).toThrow(message);
    expect(() => pdp.for(misspelt).filter("read", rows)).toThrow(message);
    expect(() => pdp.filter({ principal: misspelt, action: "read", resources: rows })).toThrow(message);
    expect(() => pdp.prepare(target).filter(misspelt, rows)).toThrow(message);
  });

  it("of a target is refused", () => {
    for (const name of ["policy_version", "Scope", "roles"]) {
      const misspelt = { ...target, [name]: "acme" } as Target;
      expect(() => pdp.prepare(misspelt), name).toThrow(TypeError);
      expect(() => pdp.for(principal).prepare(misspelt), name).toThrow(`unknown field \`${name}\` in a target`);
    }
    for (const scope of [null, 1, ["acme"]] as never[]) {
      expect(() => pdp.prepare({ ...target, scope })).toThrow("scope must be a string");
      expect(() => pdp.prepare({ ...target, policyVersion: scope })).toThrow("policyVersion must be a string");
    }
  });

  // Looking for one would cost more than the decision: the documentation of `Pdp` warns of this.
  it("of a resource is not detected on the fast path", () => {
    const misspelt = { ...resource, policy_version: "2" } as Resource;
    for (let time = 0; time < 2; time += 1) pdp.isAllowed(request);
    expect(pdp.isAllowed({ ...request, resource: misspelt })).toBe(true);
    expect(() => pdp.check({ principal, actions: ["read"], resource: misspelt })).toThrow("unknown field `policy_version`");
  });
});

describe("a target with a scope or version", () => {
  const ways = (target: Target) => (one: Resource): boolean[] => {
    const [action, question] = [pdp.prepare(target), pdp.for(principal).prepare(target)];
    const many = Array.from({ length: 20 }, () => one);
    const answers = [1, 2].flatMap(() => [
      action.isAllowed(principal, one),
      question.isAllowed(one),
      action.filter(principal, many).length === 20,
      question.filter(many).length === 20,
    ]);
    return [...new Set(answers)];
  };
  const selections: readonly { readonly scope?: string; readonly policyVersion?: string }[] = [
    {}, { scope: "acme" }, { policyVersion: "2" }, { policyVersion: "default" }, { scope: "none" }, { scope: "" }, { scope: "acme", policyVersion: "2" },
  ];

  it.each(selections)("supplies it to resources without one, and not to others: %j", (selection) => {
    for (const action of ["read", "write", "delete"]) {
      for (const own of selections) {
        const named = { ...resource, ...own };
        const whole = { ...resource, ...selection, ...own };
        expect(ways({ kind: "record", action, ...selection })(named), JSON.stringify([action, own])).toEqual([pdp.isAllowed({ principal, action, resource: whole })]);
      }
    }
  });

  it("refuses invalid resources, and resources with an invalid scope", () => {
    const prepared = pdp.prepare({ ...target, scope: "acme" });
    for (const invalid of [undefined, null, [], "record", new Map(), { ...resource, scope: null }] as never[]) {
      expect(() => prepared.isAllowed(principal, invalid)).toThrow(TypeError);
    }
    expect(() => prepared.filter(principal, {} as never)).toThrow("resources must be an array");
    const map = { ...resource, attr: new Map([["owner", "ada"]]) } as never;
    expect(prepared.isAllowed(principal, map)).toBe(pdp.isAllowed({ ...request, resource: { ...(map as Resource), scope: "acme" } }));
  });
});
