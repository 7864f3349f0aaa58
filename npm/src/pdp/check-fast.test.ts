// Checks that fast paths decide: the decision of the general path, byte for byte, or its refusal.

import { describe, expect, it } from "vitest";

import { checkFast } from "./check-fast.ts";
import { openSync } from "./open.ts";
import { album, atNoon, fixture, thrownBy } from "../testing.ts";
import type { CheckRequest, Pdp } from "./types.ts";

const pdps: Readonly<Record<string, Pdp>> = {
  album: openSync(album, atNoon),
  covered: openSync(fixture("covered.bundle"), atNoon),
};

/** A request of Ada about something of a kind, with changes by name. */
function asking(kind: string, actions: readonly unknown[], changes: { principal?: object; resource?: object; request?: object } = {}): CheckRequest {
  return {
    principal: { id: "ada", roles: ["user"], ...changes.principal },
    resource: { kind, id: "t1", ...changes.resource },
    actions,
    ...changes.request,
  } as CheckRequest;
}

/** Returns the decision as text, which must be the one of the general path. */
function decided(pdp: Pdp, make: () => CheckRequest): string {
  const bytes = new TextDecoder().decode(pdp.decisionBytes(make()));
  expect(JSON.stringify(pdp.check(make()))).toBe(JSON.stringify(JSON.parse(bytes)));
  return bytes;
}

describe("a check", () => {
  it("gives the bytes of the general path, whatever rule decides", () => {
    const found = new Set<string>();
    for (const [kind, actions] of [["album", ["view", "edit", "share", "echo", "unheard-of"]], ["nothing", ["view"]]] as const) {
      for (const roles of [["user"], ["admin"], ["user", "admin"], ["stranger"], ["stranger", "user"]]) {
        for (const owner of ["ada", "eve", 1, undefined]) {
          for (const action of actions) {
            const changes = { principal: { roles }, resource: { attr: { owner } } };
            found.add(decided(pdps["album"]!, () => asking(kind, [action], changes)));
            decided(pdps["album"]!, () => asking(kind, [...actions, action], { ...changes, request: { requestId: "r1" } }));
          }
        }
      }
    }
    expect(found.size).toBeGreaterThan(5);
  });

  it("is written anew each time", () => {
    const make = (): CheckRequest => asking("album", ["view"]);
    const first = pdps["album"]!.check(make());
    const second = pdps["album"]!.check(make());
    expect(second).toEqual(first);
    expect(second.actions).not.toBe(first.actions);
    expect(second.actions["view"]).not.toBe(first.actions["view"]);
    expect(second.actions["view"]!.reason).not.toBe(first.actions["view"]!.reason);
  });

  it("refuses what the general path refuses", () => {
    const odd: readonly CheckRequest[] = [
      asking("album", []),
      asking("album", [1]),
      asking("album", ["view"], { request: { scpe: "x" } }),
      asking("album", ["view"], { principal: { rolls: [] } }),
      asking("album", ["view"], { resource: { attrs: {} } }),
      asking("album", ["view"], { principal: { roles: "user" } }),
      asking("album", ["view"], { resource: { id: 1 } }),
      asking("album", ["view"], { resource: { id: "\ud800" } }),
      asking("album", ["\ud800"]),
      asking("album", ["view"], { request: { requestId: 1 } }),
    ];
    for (const request of odd) {
      const refused = thrownBy(() => pdps["album"]!.decisionBytes(request)) as Error | undefined;
      const found = thrownBy(() => pdps["album"]!.check(request)) as Error | undefined;
      expect(found?.message, JSON.stringify(request)).toBe(refused?.message);
    }
  });

  it("names actions as they are, numbers and inherited names too", () => {
    for (const action of ["1", "0x1", "constructor", "__proto__", "toString", ""]) {
      decided(pdps["album"]!, () => asking("album", ["view", action, "edit"]));
    }
  });

  it("reads no member that others added to every object", () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype["requestId"] = "forged";
    try {
      expect(JSON.parse(decided(pdps["album"]!, () => asking("album", ["view"])))).toMatchObject({ requestId: "" });
    } finally {
      delete prototype["requestId"];
    }
  });

  it("is unsure if code of the caller decides in between", () => {
    const pdp = pdps["album"]!;
    const resource = {
      kind: "album",
      id: "t1",
      attr: { get owner() { pdp.check(asking("album", ["view", "edit"], { principal: { roles: ["stranger"] } })); return "ada"; } },
    };
    decided(pdp, () => ({ ...asking("album", ["edit"]), resource }));
  });

  it("of kinds with derived roles, scopes and principals with policies is that of the general path", () => {
    for (const kind of ["plain", "text", "glob", "boss", "clerk"]) {
      for (const scope of [undefined, "acme", "acme.hr", "zeta"]) {
        for (const id of ["ada", "boss", "clerk"]) {
          decided(pdps["covered"]!, () => asking(kind, ["view", "edit", "read:all", "x"], { principal: { id }, resource: scope === undefined ? {} : { scope } }));
        }
      }
    }
  });
});

describe("the fast path of checks", () => {
  it("is for objects only", () => {
    for (const value of [undefined, null, 1, "x", []]) expect(checkFast({} as never, value)).toBe(null);
  });
});
