// Messages: a request that code of the caller disturbs while it is read.

import { afterAll, beforeEach, describe, expect, it } from "vitest";

import type { OpenedPdp } from "../pdp/pdp.ts";
import { openSync } from "../pdp/open.ts";
import { album, atNoon, closed, editing, ofCode, thrownBy, unusual, viewing, withActions } from "../testing.ts";
import type { CheckRequest } from "../pdp/request-types.ts";

const things = openSync(unusual, atNoon);
let pdp = openSync(album, atNoon) as OpenedPdp;
beforeEach(() => {
  pdp.dispose();
  pdp = openSync(album, atNoon) as OpenedPdp;
});
afterAll(() => [pdp, things].forEach((one) => one.dispose()));

/** Returns a request to edit whose owner is read by a getter that does something first. */
function nosy(act: () => void): CheckRequest {
  return withActions(editing({ get owner(): string { act(); return "ada"; } }), ["edit"]);
}

const reason = (request: CheckRequest): string => pdp.check(request).actions["edit"]!.reason.kind;

describe("a getter", () => {
  it("may reload the policies, which then decide", () => {
    expect(reason(nosy(() => {}))).toBe("rule");
    const { actions } = pdp.check(nosy(() => pdp.reload(closed)));
    expect(actions["edit"]!.effect).toBe("deny");
  });

  it("that reloads policies which read more makes the whole request be read", () => {
    const open = (): OpenedPdp => openSync(album, atNoon) as OpenedPdp;
    const one = open();
    const thing = { kind: "thing", id: "t1" };
    const principal = { id: "ada", roles: ["user"] };
    // Another prototype: the general path reads it.
    const attr = Object.setPrototypeOf({ x: "ada", get owner(): string { one.reload(unusual); return "ada"; } }, {}) as object;
    expect(one.check({ principal, actions: ["equal"], resource: { ...thing, attr } }).actions["equal"]!.effect).toBe("allow");
    one.dispose();
  });

  it("may dispose of the PDP, which then decides nothing", () => {
    expect(thrownBy(() => pdp.check(nosy(() => pdp.dispose())))).toEqual(ofCode("disposed"));
    const other = openSync(album, atNoon);
    const replaced = nosy(() => { other.dispose(); openSync(closed, atNoon); });
    expect(thrownBy(() => other.check(replaced))).toEqual(ofCode("disposed"));
  });

  it("may check another request, and neither disturbs the other", () => {
    for (const depth of [1, 2, 5]) {
      const nested = (left: number): CheckRequest =>
        withActions(editing({ get owner(): string { if (left > 0) expect(reason(nested(left - 1))).toBe("rule"); return "ada"; } }), ["edit"]);
      const request = { ...nested(depth), requestId: `of ${depth}` };
      expect(pdp.check(request)).toMatchObject({ requestId: `of ${depth}`, actions: { edit: { effect: "allow" } } });
    }
  });

  it("may check many, whose shared parts are not those of the outer ones", () => {
    const inner = (): void => {
      const [other] = pdp.checkMany([withActions(viewing({ principal: { id: "eve", roles: [] } }), ["view"])]);
      expect(other!.actions["view"]!.effect).toBe("deny");
    };
    const { principal, ...rest } = nosy(inner);
    const decisions = pdp.checkMany([rest, rest, rest].map((request) => ({ ...request, principal })));
    expect(decisions.map(({ actions }) => actions["edit"]!.effect)).toEqual(["allow", "allow", "allow"]);
  });
});

describe("a decision", () => {
  /** Returns actions that are odd as names of members. */
  const odd = ["view", "__proto__", "constructor", "7", "view", "é\u{1f5dd}", "x".repeat(5000), ""];

  it("equals the canonical JSON, whatever the actions are called", () => {
    for (const actions of [[], ["edit"], odd, [...odd, ...odd]]) {
      const request = { ...withActions(editing({ owner: "ada" }), actions), requestId: "é" };
      const text = new TextDecoder().decode(pdp.decisionBytes(request));
      expect(JSON.stringify(pdp.check(request))).toBe(JSON.stringify(JSON.parse(text)));
    }
  });

  it("does not change with attributes that no rule reads", () => {
    const x = { y: "ada" };
    const more = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`more${at}`, [at]]));
    for (const action of ["nested", "nestedPresent", "same", "size", "inherited"]) {
      const request = (attr: object): CheckRequest => ({
        principal: { id: "ada", roles: ["user"], attr: more }, actions: [action], resource: { kind: "thing", id: "t1", attr },
      });
      expect(things.check(request({ ...more, x, x2: x }))).toEqual(things.check(request({ x, x2: x })));
    }
  });
});
