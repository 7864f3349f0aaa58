// Checks that fast paths decide: the decision of the general path, byte for byte, or its refusal.

import { describe, expect, it, vi } from "vitest";

import { checkFast } from "./check-fast.ts";
import { openSync } from "./open.ts";
import { album, atNoon, fixture, thrownBy } from "../testing.ts";
import type { CheckRequest } from "./request-types.ts";
import type { Pdp } from "./types.ts";

const general = vi.hoisted(() => ({ calls: 0 }));

vi.mock("../wasm/abi.ts", async (load) => {
  const abi = await load<typeof import("../wasm/abi.ts")>();
  const check: typeof abi.check = (...given) => {
    general.calls += 1;
    return abi.check(...given);
  };
  return { ...abi, check };
});

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

  it("of a kind that no policy is about needs no general path if there are no policies of roles and principals", () => {
    const kinds = ["nothing", "nothing%2f..", "x".repeat(150)];
    const requests = kinds.flatMap((kind) => [asking(kind, ["view"]), asking(kind, ["view", "", "view"], { resource: { scope: "acme" }, principal: { attr: { a: [] } } })]);
    for (const [name, fast] of [["album", true], ["covered", false]] as const) {
      for (const request of requests) {
        decided(pdps[name]!, () => request);
        const before = general.calls;
        expect(pdps[name]!.check(request).actions["view"]!.policy).toBe("NO_MATCH");
        expect(general.calls - before, JSON.stringify(request)).toBe(fast ? 0 : 1);
      }
    }
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
      asking("nothing", []),
      asking("nothing", [1]),
      asking("nothing", ["\ud800"]),
      asking("nothing", ["view"], { principal: { roles: [1] } }),
      asking("nothing\ud800", ["view"]),
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

describe("a check without the general path", () => {
  const pdp = pdps["covered"]!;

  /** Checks twice, because the first check loads fast paths; fails unless the second one is on the `fast` path or not. */
  const check = (make: () => CheckRequest, fast: boolean): void => {
    decided(pdp, make);
    const before = general.calls;
    decided(pdp, make);
    expect(general.calls - before, JSON.stringify(make())).toBe(fast ? 0 : 1);
  };

  it("makes the outputs of its rules, each once for an action", () => {
    const emits = (action: string | readonly string[], attr: object, fast: boolean, roles = ["user"]): void =>
      check(() => asking("emits", typeof action === "string" ? [action] : action, { principal: { roles }, resource: { attr } }), fast);
    emits("always", {}, true);
    emits("always", {}, true, ["admin"]);
    emits("always", {}, true, ["guest"]);
    emits("met", { open: true }, true);
    emits("met", { open: false }, true);
    emits("met", { open: 1 }, true);
    emits("met", {}, false);
    emits("met", { open: true }, true, ["admin"]);
    emits("met", { open: true }, true, ["admin", "user"]);
    emits("met", { open: true }, true, ["user", "admin"]);
    emits("unmet", { closed: true }, true);
    emits("unmet", { closed: false }, true);
    emits("both", { open: false, closed: true }, true);
    emits("both", { open: true, closed: true }, true);
    emits("none", {}, true);
    emits(["always", "both", "always", "unmet"], { open: true, closed: false }, true);
    emits(["met", "unmet"], { open: true }, false);
  });

  it("makes values of any kind for outputs, or leaves them to the general path", () => {
    for (const who of ["ada", "", "\u0000\"\\\ud83d\udd11", "x".repeat(100)]) {
      for (const value of ["text", "", true, null, 0, -0, 1.5, 1e300, [1, ["a", null]], { a: { b: [] } }]) {
        check(() => asking("values", ["tell"], { principal: { id: who }, resource: { attr: { value } } }), true);
      }
    }
    check(() => asking("values", ["tell"], { resource: { attr: {} } }), false);
    check(() => asking("values", ["tell"], { resource: { attr: { value: "x".repeat(70_000) } } }), false);
    check(() => asking("values", ["divide"], { resource: { attr: { value: 0 } } }), false);
    check(() => asking("values", ["time", "time"], { resource: { attr: { value: 0 } } }), true);
    check(() => asking("values", ["everything"], { resource: { attr: { value: 0 } } }), false);
  });

  it("is one of a principal with policies of its own", () => {
    for (const [id, kind] of [["boss", "plain"], ["boss", "text"], ["boss", "emits"], ["clerk", "glob"], ["clerk", "plain"]] as const) {
      for (const action of ["own", "open", "see:all", "flags"]) {
        const attr = { owner: id, closed: 1, a: true, b: null, locked: false };
        check(() => asking(kind, [action], { principal: { id, attr: { level: 2, team: "red" } }, resource: { attr } }), true);
      }
    }
    check(() => asking("plain", ["own"], { principal: { id: "boss", scope: "acme" } }), false);
    check(() => asking("plain", ["own"], { principal: { id: "boss", policyVersion: "v2" } }), false);
  });

  it("is one about the claims of a token", () => {
    for (const auxData of [undefined, {}, { jwt: { sub: "u1", groups: ["staff"] } }, { jwts: { context: { claims: { ip: "10.0.0.2" } } } }]) {
      check(() => asking("claims", ["anonymous", "anonymous"], { request: { auxData } }), true);
    }
    check(() => asking("claims", ["local"], { request: { auxData: { jwts: { context: { claims: { ip: "10.0.0.2" } } } } } }), true);
    check(() => asking("claims", ["own"], { request: { auxData: { jwt: { sub: "u1" } } }, resource: { attr: { owner: "u1" } } }), true);
    check(() => asking("claims", ["own"], { request: { auxData: {} }, resource: { attr: { owner: "u1" } } }), false);
  });

  it("does not depend on the scope and version of a principal without policies", () => {
    for (const principal of [{ scope: "acme" }, { policyVersion: "v2" }, { scope: "", policyVersion: "" }]) {
      check(() => asking("plain", ["open"], { principal, resource: { attr: {} } }), true);
    }
    for (const principal of [{ scope: null }, { scope: 1 }, { policyVersion: "\ud800" }]) {
      const request = asking("plain", ["open"], { principal });
      const [refused, found] = [() => pdp.decisionBytes(request), () => pdp.check(request)].map(thrownBy) as Error[];
      expect(found!.message).toBe(refused!.message);
    }
  });
});

describe("the fast path of checks", () => {
  it("is for objects only", () => {
    for (const value of [undefined, null, 1, "x", []]) expect(checkFast({} as never, value)).toBe(null);
  });
});
