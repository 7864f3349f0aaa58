// Requests that the fast path decides: no call of the general path, and the answer of `explain`,
// which always takes it.

import { describe, expect, it, vi } from "vitest";

import { openSync } from "./open.ts";
import { accessorsOf, atNoon, fixture, onLists, onOne, withActions } from "../testing.ts";
import type { ActionRequest, Resource } from "./request-types.ts";
import type { Target } from "./types.ts";

const general = vi.hoisted(() => ({ calls: 0 }));

vi.mock("../wasm/abi.ts", async (load) => {
  const abi = await load<typeof import("../wasm/abi.ts")>();
  const isAllowed: typeof abi.isAllowed = (...given) => {
    general.calls += 1;
    return abi.isAllowed(...given);
  };
  return { ...abi, isAllowed };
});

const covered = fixture("covered.bundle");
const pdp = openSync(covered, atNoon);
const accessed = openSync(covered, { ...atNoon, accessors: await accessorsOf("covered") });

/** A request of Ada about something of the kind. */
function asking(kind: string, action: string, parts: { principal?: object; resource?: object; request?: object } = {}): ActionRequest {
  return {
    principal: { id: "ada", roles: ["user"], ...parts.principal },
    resource: { kind, id: "t1", ...parts.resource },
    action,
    ...parts.request,
  };
}

/** Decides by every method, and fails if one needs the general path or differs from `explain`. */
function decided(make: () => ActionRequest): boolean {
  const { action, resource } = make();
  const right = pdp.explain(make()).decision.actions[action]?.effect === "allow";
  // The memory may have grown since the last decision; the first one finds the frame again.
  for (const one of [pdp, accessed]) one.isAllowed(make());
  const before = general.calls;
  for (const [way, decide] of [...onOne, ...onLists]) {
    expect(decide(pdp, make, { kind: resource.kind, action }), way).toBe(right);
    expect(general.calls - before, `${way}: ${JSON.stringify(make())}`).toBe(0);
  }
  expect(accessed.isAllowed(make())).toBe(right);
  expect(general.calls - before, "with accessors").toBe(0);
  return right;
}

describe("texts", () => {
  it("that are compared with constants alone are not counted", () => {
    const attr = { a: "1", b: "2", c: "3", d: "4" };
    const check = (changes: object, principal: object = {}): boolean =>
      decided(() => asking("text", "constants", { principal: { attr: { a: "5", b: "6", ...principal } }, resource: { attr: { ...attr, ...changes } } }));
    expect(check({})).toBe(true);
    expect([check({ a: "secret" }), check({ d: "hidden" }), check({}, { b: "secret" })]).toEqual([false, false, false]);
    expect([check({ a: 1, d: null }), check({ a: "secrets", d: "" })]).toEqual([true, true]);
  });

  it("that are compared with each other may be many", () => {
    const attr = { a: "1", b: "2", c: "3", d: "4" };
    const check = (changes: object): boolean =>
      decided(() => asking("text", "pairs", { principal: { attr: { a: "1", b: "2" } }, resource: { attr: { ...attr, ...changes } } }));
    expect(check({})).toBe(true);
    expect([check({ c: "1" }), check({ d: "2" }), check({ b: "3" })]).toEqual([false, false, false]);
    expect(decided(() => asking("text", "pairs", { principal: { attr: { a: "1", b: "2" } }, resource: { id: "ada", attr } }))).toBe(false);
  });

  it("in the place of other values are decided from the table", () => {
    const check = (attr: object): boolean => decided(() => asking("text", "flags", { resource: { attr } }));
    expect([check({ a: true, b: null }), check({ a: "1", b: null }), check({ a: true, b: "1" })]).toEqual([true, false, false]);
  });
});

describe("absent attributes", () => {
  it("of a resource are none", () => {
    const check = (action: string, resource: object): boolean => decided(() => asking("plain", action, { resource }));
    expect([check("own", {}), check("own", { attr: undefined }), check("own", { attr: { owner: "ada" } })]).toEqual([false, false, true]);
    expect([check("open", {}), check("open", { attr: {} }), check("open", { attr: { closed: 1 } })]).toEqual([true, true, false]);
  });

  it("of a principal are none", () => {
    const check = (action: string, principal: object): boolean => decided(() => asking("plain", action, { principal }));
    expect([check("team", {}), check("team", { attr: undefined }), check("team", { attr: { team: "blue" } })]).toEqual([true, true, false]);
    expect([check("manage", { roles: ["guest"] }), check("manage", { roles: [] })]).toEqual([false, false]);
  });

  it("in some rows of a batch are none", () => {
    const row = (at: number): Resource => ({ kind: "plain", id: `t${at}`, ...(at % 3 === 0 ? {} : { attr: { owner: at % 2 === 0 ? "ada" : "eve" } }) });
    const rows = Array.from({ length: 64 }, (_, at) => row(at));
    const principal = { id: "ada", roles: ["user"] };
    const filter = (): readonly Resource[] => pdp.filter({ principal, action: "own", resources: rows });
    filter();
    const before = general.calls;
    expect(filter()).toEqual(rows.filter((_, at) => at % 3 !== 0 && at % 2 === 0));
    expect(general.calls).toBe(before);
  });
});

describe("lists of the principal", () => {
  const teams = (length: number): unknown[] => Array.from({ length }, (_, at) => `team ${at}`);
  const check = (list: unknown, team: unknown): string =>
    ["among", "some", "other", "size"].map((action) => +decided(() => asking("list", action, { principal: { attr: { teams: list } }, resource: { attr: { team } } }))).join("");

  it("may be long", () => {
    for (const length of [15, 16, 17, 20, 100, 1000]) {
      const size = +(length > 20);
      expect(check(teams(length), "team 14"), String(length)).toBe(`110${size}`);
      expect([check(teams(length), "team"), check(teams(length), 1), check(teams(length), null)]).toEqual([`001${size}`, `001${size}`, `001${size}`]);
      expect(check(teams(length), undefined)).toBe(`000${size}`);
      expect(check([...teams(length), 1, null, true, 0.5], 1)).toBe(`110${+(length > 16)}`);
      expect(check([...teams(length), ""], "")).toBe(`110${+(length > 19)}`);
    }
  });

  it("are those of the time when the principal was prepared", () => {
    const list = teams(40);
    const principal = { id: "ada", roles: ["user"], attr: { teams: list } };
    const prepared = pdp.for(principal);
    list[0] = "other";
    const answers = (): boolean[] => ["team 0", "other"].map((team) => prepared.isAllowed("among", { kind: "list", id: "t1", attr: { team } }));
    answers();
    const before = general.calls;
    expect(answers()).toEqual([true, false]);
    expect(general.calls).toBe(before);
  });

  it("may be sets", () => {
    const request = (action: string, team: unknown): ActionRequest =>
      asking("list", action, { principal: { attr: { teams: new Set(teams(50)) } }, resource: { attr: { team } } });
    const prepared = pdp.for(request("among", "").principal);
    for (const team of ["team 49", "team 50", 1]) {
      for (const action of ["among", "some", "other"]) {
        expect(prepared.isAllowed(action, request(action, team).resource)).toBe((team === "team 49") !== (action === "other"));
      }
    }
    for (const action of ["among", "some", "other"]) {
      for (const team of ["team 49", "team 50", undefined]) expect(decided(() => request(action, team))).toBe(team === undefined ? false : (team === "team 50") === (action === "other"));
    }
  });
});

describe("tokens of the auxiliary data", () => {
  const check = (action: string, auxData: unknown, attr: object = {}): boolean =>
    decided(() => asking("claims", action, { resource: { attr }, request: { auxData } }));

  it("are read where the rules read them", () => {
    expect([check("own", { jwt: { sub: "u1" } }, { owner: "u1" }), check("own", { jwt: { sub: "u1" } }, { owner: "u2" })]).toEqual([true, false]);
    expect([check("own", { jwt: {} }, { owner: "u1" }), check("own", { jwt: { sub: 1 } }, { owner: 1 })]).toEqual([false, true]);
    expect([check("group", { jwt: { groups: ["a", "staff"] } }), check("group", { jwt: { groups: ["a"] } })]).toEqual([true, false]);
    expect([check("group", { jwt: { groups: { staff: 1 } } }), check("group", { jwt: { groups: "staff" } })]).toEqual([true, false]);
    expect([check("mail", { jwt: { email: "A@B.C" } }, { email: "a@b.c" }), check("mail", { jwt: { email: 1 } }, { email: "1" })]).toEqual([true, false]);
    const context = (ip: unknown): object => ({ jwts: { context: { claims: { ip } } } });
    expect([check("local", context("10.0.0.1")), check("local", context("10.0.0.2")), check("local", context(undefined))]).toEqual([true, false, false]);
    expect([check("local", { jwts: {} }), check("local", { jwts: { context: 1 } }), check("local", { jwts: { context: {} } })]).toEqual([false, false, false]);
  });

  it("are none if they are absent", () => {
    for (const auxData of [undefined, {}, { jwt: undefined }, { jwts: {} }]) {
      expect([check("anonymous", auxData), check("local", auxData), check("own", auxData, { owner: "u1" })]).toEqual([true, false, false]);
    }
    expect(check("anonymous", { jwt: { sub: null } })).toBe(false);
  });

  it("are refused or decided by the general path if they are unusual", () => {
    const prototype = Object.create({ sub: "u1" }) as object;
    for (const auxData of [null, 1, [], { jwt: null }, { jwt: [] }, { jwt: "x" }, { jwtt: {} }, { jwts: 1 }, prototype, { jwt: prototype }, { jwt: { sub: Number.NaN } }]) {
      const request = asking("claims", "own", { resource: { attr: { owner: "u1" } }, request: { auxData } });
      const asked = (decide: () => boolean): unknown => {
        try {
          return decide();
        } catch (thrown) {
          return String(thrown);
        }
      };
      const right = asked(() => JSON.parse(new TextDecoder().decode(pdp.decisionBytes(withActions(request, ["own"])))).actions.own.effect === "allow");
      for (const [way, decide] of [...onOne, ...onLists]) {
        expect(asked(() => decide(pdp, () => request, { kind: "claims", action: "own" })), `${way} ${JSON.stringify(auxData)}`).toBe(right);
      }
      expect(asked(() => accessed.isAllowed(request))).toBe(right);
      expect(asked(() => pdp.check(withActions(request, ["own"])).actions["own"]!.effect === "allow")).toBe(right);
    }
    const misspelt = { ...asking("claims", "anonymous"), auxdata: { jwt: { sub: "u1" } } } as ActionRequest;
    expect(() => pdp.isAllowed(misspelt)).toThrow("auxdata");
  });

  it("are not inherited", () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    for (const [name, value] of [["auxData", { jwt: { sub: "u1" } }], ["jwt", { sub: "u1" }], ["jwts", { context: 1 }]] as const) {
      prototype[name] = value;
      try {
        const own = asking("claims", "own", { resource: { attr: { owner: "u1" } } });
        expect([pdp.isAllowed(own), pdp.isAllowed({ ...own, auxData: {} }), pdp.isAllowed(asking("claims", "anonymous"))]).toEqual([false, false, true]);
      } finally {
        delete prototype[name];
      }
    }
  });
});

describe("a target with a scope or version", () => {
  const principal = { id: "ada", roles: ["user"] };
  const targets: readonly Target[] = [
    { kind: "plain", action: "own" },
    { kind: "plain", action: "own", scope: "acme" },
    { kind: "plain", action: "own", policyVersion: "v2" },
    { kind: "plain", action: "own", scope: "", policyVersion: "default" },
  ];
  const resources: readonly Partial<Resource>[] = [
    {}, { scope: "acme" }, { policyVersion: "v2" }, { scope: "none" }, { scope: "acme", policyVersion: "default" }, { policyVersion: "v2", scope: "" }, { attr: { owner: "ada" } }, { scope: "acme", attr: { owner: "ada", locked: true } },
    { kind: "text", attr: { a: "1" } }, { kind: "unknown" }, { policyVersion: "default", scope: "", attr: { owner: "ada" } }, { attr: { owner: "ada", locked: true } },
  ];

  it.each(targets)("decides every resource: %j", (target) => {
    const { scope, policyVersion } = target;
    for (const parts of resources) {
      const resource: Resource = { kind: "plain", id: "t1", ...parts };
      const completed: Resource = { ...(scope === undefined ? {} : { scope }), ...(policyVersion === undefined ? {} : { policyVersion }), ...resource };
      const right = pdp.check({ principal, actions: ["own"], resource: completed }).actions["own"]?.effect === "allow";
      const rows = Array.from({ length: 20 }, () => resource);
      const ways = [
        () => pdp.prepare(target).isAllowed(principal, resource),
        () => pdp.for(principal).prepare(target).isAllowed(resource),
        () => pdp.prepare(target).filter(principal, rows).length === 20,
        () => pdp.for(principal).prepare(target).filter(rows).length === 20,
      ];
      // The first decision loads the fast path.
      ways[0]!();
      const before = general.calls;
      expect(ways.map((way) => way()), JSON.stringify(parts)).toEqual(ways.map(() => right));
      expect(general.calls, JSON.stringify(parts)).toBe(before);
    }
  });
});

describe("a kind that no policy is about", () => {
  it("is denied", () => {
    for (const kind of ["unknown", "plain:", "unknown:kind"]) {
      expect(decided(() => asking(kind, "own"))).toBe(false);
      expect(decided(() => asking("unknown", kind))).toBe(false);
    }
    for (const parts of [{ scope: "acme" }, { scope: "none" }, { policyVersion: "v2" }, { policyVersion: "none" }, { scope: "s".repeat(200) }]) {
      expect(decided(() => asking("unknown", "own", { resource: parts }))).toBe(false);
    }
    for (const parts of [{ scope: "none" }, { policyVersion: "none" }]) {
      expect(decided(() => asking("plain", "own", { resource: { ...parts, attr: { owner: "ada" } } }))).toBe(false);
    }
  });

  it("is denied after many others", () => {
    for (let at = 0; at < 3000; at += 1) {
      expect(pdp.isAllowed(asking(`unknown ${at}`, "own"))).toBe(false);
      expect(pdp.isAllowed(asking("unknown", "own", { resource: { scope: `none ${at}` } }))).toBe(false);
    }
    expect(decided(() => asking("unknown 7", "own"))).toBe(false);
    expect(decided(() => asking("plain", "own", { resource: { attr: { owner: "ada" } } }))).toBe(true);
  });

  it("is refused in a malformed request", () => {
    for (const parts of [{ principal: { id: 7 } }, { principal: { roles: "user" } }, { principal: { roles: [7] } }, { resource: { id: null } }, { resource: { scope: 7 } }]) {
      for (let time = 0; time < 2; time += 1) expect(() => pdp.isAllowed(asking("unknown", "own", parts))).toThrow(TypeError);
    }
  });
});

describe("a scope without a policy about the kind", () => {
  it("has the fast paths of the scope above", () => {
    const check = (kind: string, resource: object): boolean => decided(() => asking(kind, kind === "text" ? "flags" : "own", { resource }));
    expect(check("text", { scope: "acme", attr: { a: true, b: null } })).toBe(true);
    expect(check("plain", { scope: "acme", policyVersion: "v2", attr: {} })).toBe(true);
    expect([check("plain", { scope: "acme", attr: { owner: "ada" } }), check("plain", { scope: "acme", attr: { owner: "ada", locked: true } })]).toEqual([false, false]);
  });
});

describe("an action that patterns match", () => {
  const actions = ["open", "view:public", "view:private", "view:private:all", "view:all", "edit:all", "edit", "view", "", "VIEW:public", "view:ä"];
  const principals = [{}, { roles: ["admin"] }, { roles: ["root"] }, { roles: ["admin", "user"] }];

  it("is decided by all of them", () => {
    const allowed = new Set<string>();
    for (const action of actions) {
      for (const [who, principal] of principals.entries()) {
        for (const attr of [{ public: true, owner: "eve" }, { owner: "ada" }, { public: false, owner: "eve" }]) {
          if (decided(() => asking("glob", action, { principal, resource: { attr } }))) allowed.add(`${action} ${who}`);
        }
      }
    }
    for (const one of ["open 0", "view:public 0", "view:private 0", "edit:all 1", "edit 2", "view:all 3"]) expect(allowed).toContain(one);
    for (const one of ["edit 0", "view 1", "view:private:all 1", "VIEW:public 3"]) expect(allowed).not.toContain(one);
  });

  it("is decided after many others", () => {
    for (let at = 0; at < 1000; at += 1) {
      const attr = { owner: at % 3 === 0 ? "ada" : "eve" };
      expect(pdp.isAllowed(asking("glob", `view:${at}`, { resource: { attr } }))).toBe(at % 3 === 0);
    }
    expect(decided(() => asking("glob", "view:7", { resource: { attr: { owner: "ada" } } }))).toBe(true);
    // Longer than what fast paths compare with patterns.
    expect(pdp.isAllowed(asking("glob", `view:${"x".repeat(100)}`, { resource: { attr: { owner: "ada" } } }))).toBe(true);
  });
});

describe("a principal with policies of its own", () => {
  const as = (id: string, kind: string, action: string, resource: object = {}, principal: object = {}): ActionRequest =>
    asking(kind, action, { resource, principal: { id, ...principal } });

  it("is decided by them first", () => {
    const check = (...given: Parameters<typeof as>): boolean => decided(() => as(...given));
    expect(check("boss", "plain", "own", { attr: { owner: "eve", locked: false } })).toBe(true);
    expect([check("boss", "plain", "own"), check("boss", "plain", "own", { attr: { locked: true } })]).toEqual([false, false]);
    expect(check("boss", "plain", "own", { attr: { owner: "boss", locked: true } })).toBe(true);
    expect([check("boss", "plain", "open", {}, { attr: { level: 2 } }), check("boss", "plain", "open", {}, { attr: { level: 3 } })]).toEqual([false, true]);
    expect([check("boss", "plain", "see:all"), check("boss", "plain", "see")]).toEqual([true, false]);
    expect(check("boss", "text", "flags", { attr: { a: true, b: null } })).toBe(false);
    // Without roles they do not count.
    expect(check("boss", "plain", "see:all", {}, { roles: [] })).toBe(false);
  });

  it("is decided by the others for kinds and versions that they are not about", () => {
    const check = (...given: Parameters<typeof as>): boolean => decided(() => as(...given));
    expect([check("boss", "glob", "open"), check("boss", "glob", "edit")]).toEqual([true, false]);
    expect(check("boss", "plain", "see:all", { policyVersion: "v2" })).toBe(false);
    expect(check("boss", "plain", "own", { policyVersion: "v2" })).toBe(true);
    expect(check("boss", "unknown", "own")).toBe(false);
    expect([check("clerk", "plain", "own", { attr: { owner: "eve" } }), check("clerk", "plain", "own", { attr: { owner: "clerk" } })]).toEqual([false, true]);
  });

  it("is decided in scopes of resources", () => {
    const check = (...given: Parameters<typeof as>): boolean => decided(() => as(...given));
    expect(check("boss", "plain", "own", { scope: "acme", attr: { locked: false } })).toBe(true);
    expect(check("boss", "plain", "see:all", { scope: "acme" })).toBe(true);
    expect(check("boss", "text", "flags", { scope: "acme", attr: { a: true, b: null } })).toBe(false);
  });

  it("with a scope, and for a kind that only its policies know, is left to the general path", () => {
    const cases = [
      [as("boss", "glob", "open", {}, { scope: "acme" }), false],
      [as("boss", "plain", "see:all", {}, { scope: "acme" }), true],
      [as("clerk", "plain", "own", { attr: { owner: "eve" } }, { scope: "acme" }), true],
      [as("boss", "secret", "read"), true],
    ] as const;
    for (const [request, expected] of cases) {
      const { principal, action, resource } = request;
      expect(pdp.check(withActions(request, [action])).actions[action]?.effect === "allow").toBe(expected);
      for (const [way, decide] of [...onOne, ...onLists]) {
        expect(decide(pdp, () => request, { kind: resource.kind, action }), way).toBe(expected);
      }
      expect(pdp.for(principal).isAllowed(action, resource)).toBe(expected);
    }
  });
});
