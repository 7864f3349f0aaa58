// The frame that the hot functions write, and the requests that they leave to the general path. A
// mock of a few lines replaces the module, so that a test can have any fast path.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { decideRequest } from "./generated/encode-request.ts";
import { ALLOW, ALWAYS, BROKEN, DENY, FALSE, frameAt, MISSING, NULL, NUMBER, TEMPORARY, TRUE, UNKNOWN, UNSURE, VALUE } from "../wasm/frame.ts";
import { FastPaths } from "./fast-paths.ts";
import type { Runtime } from "../wasm/runtime.ts";
import { begin } from "../wasm/reentrancy.ts";
import { decideAction, decideForPrincipal, decideTarget, PreparedTarget, PrincipalRecord } from "./prepared-requests.ts";

interface Call {
  readonly roles: number;
  readonly used?: number;
  readonly now?: number;
}

interface Slot {
  readonly root: string;
  readonly path?: readonly string[];
  readonly uses?: number;
  readonly constants?: readonly (readonly [string, number])[];
}

interface Wire {
  readonly flags?: number;
  readonly others?: number;
  readonly slots?: readonly Slot[];
  readonly roles?: readonly (readonly [string, number])[];
}

const module = vi.hoisted(() => ({ plan: {} as object, lists: 0 }));

vi.mock("../wasm/abi.ts", () => ({
  planList: (_: number, kind: string, version: string, scope: string) => {
    module.lists += 1;
    const known = ["doc", "other"].includes(kind) && ["", "v2"].includes(version) && ["", "acme"].includes(scope);
    return known ? '{"other": [-1, -1], "grants": -1, "actions": [["read", 0, -1]]}' : "";
  },
  planOf: () => JSON.stringify({ flags: 1, others: 0, roles: [], ...module.plan }),
}));

// The module is called for every decision.
vi.mock("./truth-table.ts", async (load) => {
  const answers = await load<typeof import("./truth-table.ts")>();
  return { ...answers, truthTableOf: () => answers.NO_TABLE };
});

/** The contents of the frame at the last decision. */
let decided: (Call & { readonly words: number[]; readonly numbers: number[] }) | undefined;
let fastPaths: FastPaths;

const buffer = new ArrayBuffer(1024 + 65_536);
const frame = frameAt(buffer, 0, {
  decide: (_, __, roles) => note({ roles }),
  decideValues: (_, __, roles, used, now) => note({ roles, used, now }),
  decideClasses: (_, __, roles, used, now) => note({ roles, used, now }),
  decideColumns: () => UNSURE,
  decideInOrder: () => UNSURE,
  verdict: () => UNKNOWN,
  grants: () => UNKNOWN,
});
frame.words[ALWAYS] = TRUE;
const runtime = { generation: 0, call: (work: () => unknown) => (begin(), work()), frame: () => frame };

function note(call: Call): number {
  decided = { words: [...frame.words], numbers: [...frame.numbers], ...call };
  return ALLOW;
}

function usePath(wire: Wire): void {
  const slots = wire.slots?.map((slot) => ({ path: [], uses: 0, constants: [], ...slot }));
  module.plan = { ...wire, slots: slots ?? [] };
  fastPaths = new FastPaths(runtime as unknown as Runtime, () => 7);
  fastPaths.begin(["root"]);
  fastPaths.resume(0);
  // The first request of a kind loads its fast paths, and is left to the general path.
  expect(decide()).toBe(UNSURE);
  decided = undefined;
}

function request(resource: object = {}, principal: object = {}): Record<string, unknown> {
  return {
    principal: { id: "ada", roles: ["user"], ...principal },
    action: "read",
    resource: { kind: "doc", id: "d1", ...resource },
  };
}

/** Decides the request with these changes. */
function decide(resource: object = {}, principal: object = {}): number {
  return decideRequest(fastPaths, request(resource, principal));
}

/**
 * Returns the words of the slots for attributes of the resource; `undefined` if the general path
 * decides.
 */
function words(attr: unknown): number[] | undefined {
  decided = undefined;
  const single = decide({ attr });
  const seen = seenWords();
  const { principal, resource } = request({ attr });
  // Every method writes the same.
  for (const other of [
    () => decideForPrincipal(fastPaths, new PrincipalRecord(principal), "read", resource),
    () => decideTarget(fastPaths, new PrincipalRecord(principal), new PreparedTarget("doc", "read"), resource),
    () => decideAction(fastPaths, new PreparedTarget("doc", "read"), principal, resource),
  ]) {
    decided = undefined;
    expect(other()).toBe(single);
    expect(seenWords()).toEqual(seen);
  }
  return single === UNSURE ? undefined : seen;
}

function seenWords(): number[] | undefined {
  return decided?.words.slice(0, (module.plan as { slots: unknown[] }).slots.length);
}

/** Returns the slots for these attributes. */
function attributes(...paths: string[]): readonly Slot[] {
  return paths.map((path) => ({ root: "resource.attr", path: path.split(".") }));
}

beforeEach(() => {
  frame.words.fill(99, 0, ALWAYS);
});

describe("a value", () => {
  beforeEach(() => usePath({ slots: attributes("a") }));

  it("has the word of its kind", () => {
    const check = (value: unknown, word: number): void => expect(words({ a: value })).toEqual([word]);
    check(true, TRUE);
    check(false, FALSE);
    check(null, NULL);
    check(undefined, MISSING);
    check("text", TEMPORARY);
    check("", TEMPORARY);
    check([], VALUE);
    check({ b: 1n }, VALUE);
    check(Object.create(null), VALUE);
    for (const number of [0, -0, 1.5, -1e300, 2 ** 53]) {
      check(number, NUMBER);
      expect(Object.is(decided?.numbers[0], number)).toBe(true);
    }
  });

  it("is missing if the attribute is absent", () => {
    expect(words({})).toEqual([MISSING]);
    expect(words(Object.create(null))).toEqual([MISSING]);
    expect(words(Object.freeze({ a: true }))).toEqual([TRUE]);
    expect(words(new Proxy({ a: true }, {}))).toEqual([TRUE]);
  });

  it("is left to the general path if it is unusual", () => {
    const numbers = [Number.NaN, Infinity, -Infinity, 1n];
    const unusual = [...numbers, Symbol("s"), () => 1, new Date(0), new Map(), new String("s"), /re/];
    for (const value of unusual) expect(words({ a: value })).toBeUndefined();
  });

  it("is left to the general path if its object is unusual", () => {
    class Own { a = true; }
    const own = JSON.parse('{"a": true, "__proto__": {"a": false}}') as object;
    const inherits = Object.create({ a: true }) as object;
    for (const attr of [new Own(), new Map([["a", true]]), [true], "text", null, 7, own, inherits]) {
      expect(words(attr)).toBeUndefined();
    }
  });
});

describe("strings", () => {
  it("have equal words if they are equal, and others if not", () => {
    usePath({ slots: attributes("a", "b", "c", "d", "e") });
    const [one, two] = ["on" + "e", ["o", "n", "e"].join("")];
    const [t, u, v, w] = [0, 1, 2, 3].map((at) => TEMPORARY + at);
    expect(words({ a: one, b: two, c: "two", d: "\ud800", e: "\ud801" })).toEqual([t, t, u, v, w]);
    expect(words({ a: "1", b: "2", c: "3", d: "4", e: "1" })).toEqual([t, u, v, w, t]);
  });

  it("are distinguished if they are many", () => {
    const names = Array.from({ length: 9 }, (_, at) => `a${at}`);
    usePath({ slots: attributes(...names) });
    const attr = Object.fromEntries(names.map((name, at) => [name, `text ${at % 7}`]));
    expect(words(attr)).toEqual(names.map((_, at) => TEMPORARY + (at % 7)));
    expect(words({ ...attr, a7: "text 8", a8: "text 5" })?.slice(7)).toEqual([TEMPORARY + 7, TEMPORARY + 5]);
  });

  it("share a word in slots that are compared with constants alone", () => {
    const lone = ["a", "b", "c", "d", "e"].map((name) => ({ root: "resource.attr", path: [name], uses: 17, constants: [["draft", 20]] as const }));
    usePath({ slots: [...lone, ...attributes("f", "g")] });
    const t = TEMPORARY;
    expect(words({ a: "1", b: "2", c: "draft", d: "3", e: "4", f: "5", g: "6" })).toEqual([t, t, 20, t, t, t, t + 1]);
    expect(words({ a: 1, b: null, c: true, d: [], f: "1" })).toEqual([NUMBER, NULL, TRUE, VALUE, MISSING, t, MISSING]);
  });

  it("have the words of constants if they are compared with them", () => {
    const constants = [["draft", 20], ["final", 21]] as const;
    const slots = [{ root: "resource.attr", path: ["a"], uses: 1, constants }, ...attributes("b")];
    usePath({ slots });
    expect(words({ a: "draft", b: "draft" })).toEqual([20, TEMPORARY]);
    expect(words({ a: "fin" + "al", b: true })).toEqual([21, TRUE]);
    expect(words({ a: "other", b: "other" })).toEqual([TEMPORARY, TEMPORARY]);
  });

  it("of ids and of the kind are in slots like others", () => {
    usePath({ slots: [{ root: "principal.id" }, { root: "resource.id" }, { root: "resource.kind" }, ...attributes("a")] });
    const [t, u, v] = [0, 1, 2].map((at) => TEMPORARY + at);
    expect(words({ a: "ada" })).toEqual([t, u, v, t]);
  });
});

describe("a path", () => {
  beforeEach(() => usePath({ slots: attributes("a.b.c", "d") }));

  it("leads through objects", () => {
    expect(words({ a: { b: { c: true } }, d: false })).toEqual([TRUE, FALSE]);
    expect(words({ a: { b: {} }, d: false })).toEqual([MISSING, FALSE]);
  });

  it("breaks at a missing member", () => {
    for (const a of [undefined, null, "text", 1, [], { b: undefined }, { b: [] }]) {
      expect(words({ a, d: true })).toEqual([BROKEN, TRUE]);
    }
    for (const b of [null, "text", 1, false]) expect(words({ a: { b }, d: true })).toEqual([MISSING, TRUE]);
  });

  it("does not lead through unusual objects", () => {
    for (const a of [new Map(), new Date(0), new (class Own { b = {}; })(), () => 1, Number.NaN]) {
      expect(words({ a, d: true })).toBeUndefined();
    }
  });
});

describe("names", () => {
  afterEach(() => {
    delete (Object.prototype as Record<string, unknown>)["a"];
    delete (Object.prototype as Record<string, unknown>)["roles"];
  });

  it("that every object inherits are for the general path", () => {
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      usePath({ slots: attributes(name) });
      expect(words({ [name]: true })).toBeUndefined();
      expect(words({})).toBeUndefined();
    }
  });

  it("that were added to Object.prototype a moment ago are, too", () => {
    usePath({ slots: attributes("a", "b") });
    (Object.prototype as Record<string, unknown>)["a"] = true;
    expect(words({ b: true })).toBeUndefined();
    delete (Object.prototype as Record<string, unknown>)["a"];
    expect(words({ b: true })).toEqual([MISSING, TRUE]);
    (Object.prototype as Record<string, unknown>)["roles"] = ["admin"];
    expect(words({ a: true })).toBeUndefined();
  });

  it("beyond the sites are read too", () => {
    const names = Array.from({ length: 80 }, (_, at) => `name${at}`);
    for (let first = 0; first < 80; first += 20) {
      usePath({ slots: attributes(...names.slice(first, first + 20)) });
      const attr = Object.fromEntries(names.map((name, at) => [name, at % 3 === 0]));
      const expected = Array.from({ length: 20 }, (_, at) => ((first + at) % 3 === 0 ? TRUE : FALSE));
      expect(words(attr)).toEqual(expected);
    }
  });
});

describe("a principal or resource without attributes", () => {
  beforeEach(() => usePath({ slots: [{ root: "principal.attr", path: ["team"] }, ...attributes("a", "b.c")] }));

  it("is like one with none", () => {
    expect(words({})).toEqual([MISSING, MISSING, BROKEN]);
    expect(words(undefined)).toEqual([MISSING, MISSING, BROKEN]);
    expect(decide({}, { attr: { team: "red" } })).toBe(ALLOW);
    expect(seenWords()).toEqual([TEMPORARY, MISSING, BROKEN]);
    expect(decide({ attr: { a: true } })).toBe(ALLOW);
  });

  it("is left to the general path if its name may be misspelt", () => {
    const misspelt = { attrs: { a: true } };
    const { principal, resource } = request();
    for (const [one, other] of [[misspelt, {}], [{}, misspelt]] as const) {
      expect(decide(one, other)).toBe(UNSURE);
      const [target, who, of] = [new PreparedTarget("doc", "read"), { ...principal as object, ...other }, { ...resource as object, ...one }];
      expect(decideAction(fastPaths, target, who, of)).toBe(UNSURE);
      expect(decideForPrincipal(fastPaths, new PrincipalRecord(who), "read", of)).toBe(UNSURE);
      expect(decideTarget(fastPaths, new PrincipalRecord(who), target, of)).toBe(UNSURE);
    }
    for (const attr of [null, 7, "text", new Map(), []]) expect(decide({ attr })).toBe(UNSURE);
  });
});

describe("roles", () => {
  const roles = [["user", 1], ["editor", 6], ["äö", 8]] as const;

  it("are masks", () => {
    usePath({ others: 16, roles });
    const mask = (...names: unknown[]): number | undefined => {
      const answer = decide({}, { roles: names });
      return answer === UNSURE ? undefined : decided?.roles;
    };
    expect(mask()).toBe(0);
    expect(mask("user")).toBe(1);
    expect(mask("edi" + "tor", "user")).toBe(7);
    expect(mask("äö", "else")).toBe(24);
    expect(mask("resu")).toBe(16);
    expect(mask("user", 7)).toBeUndefined();
    expect(mask("user", ["user"])).toBeUndefined();
  });

  it("are distinguished if they are many", () => {
    usePath({ others: 0, roles: Array.from({ length: 20 }, (_, at) => [`role${at}`, 1 << at] as const) });
    expect(decide({}, { roles: ["role19", "role3", "role20"] })).toBe(ALLOW);
    expect(decided?.roles).toBe((1 << 19) | 8);
  });

  it("are a list of classes, in their order, in a fast path by class", () => {
    usePath({ flags: 8, others: 9, roles: [["a", 3], ["b", 1]] });
    expect(decide({}, { roles: ["b", "x", "a"] })).toBe(ALLOW);
    expect([decided?.roles, decided?.words.slice(32, 35)]).toEqual([3, [1, 9, 3]]);
    expect(decide({}, { roles: Array.from({ length: 32 }, () => "a") })).toBe(UNSURE);
  });

  it("are left to the general path if they are more than the limit of fast paths", () => {
    usePath({ roles });
    const some = (length: number): number => decide({}, { roles: Array.from({ length }, () => "user") });
    expect([some(64), some(65)]).toEqual([ALLOW, UNSURE]);
    const long = (length: number): number => decide({}, { roles: ["x".repeat(length), "user"] });
    expect([long(64), long(65)]).toEqual([ALLOW, UNSURE]);
  });

  it("must be a list", () => {
    usePath({ roles });
    for (const unusual of ["user", undefined, null, { 0: "user", length: 1 }, new Set(["user"])]) {
      expect(decide({}, { roles: unusual })).toBe(UNSURE);
    }
  });
});

describe("a request", () => {
  beforeEach(() => usePath({ slots: [] }));

  it("is left to the general path if its parts are unusual", () => {
    const inherited = Object.create(request()) as object;
    const unusual = [
      undefined, null, "text", [], 7, inherited, {},
      { ...request(), action: 7 }, { ...request(), principal: null }, { ...request(), resource: [] },
      request({ id: 7 }), request({ kind: ["doc"] }), request({}, { id: undefined }), request({ scope: null }),
      request({ policyVersion: 2 }),
    ];
    for (const one of unusual) expect(decideRequest(fastPaths, one)).toBe(UNSURE);
    expect(decide()).toBe(ALLOW);
  });

  it("of an unknown action or kind, or a principal with own policies, is left to it too", () => {
    expect(decideRequest(fastPaths, { ...request(), action: "burn" })).toBe(UNSURE);
    expect(decide({ kind: "else" })).toBe(UNSURE);
    expect(decide({ kind: "doc\ud800" })).toBe(UNSURE);
    expect(decide({ kind: "" })).toBe(UNSURE);
    expect(decide({}, { id: "root" })).toBe(UNSURE);
  });

  it("finds the fast paths of its version and scope", () => {
    for (const resource of [{ scope: "acme" }, { policyVersion: "v2" }, { scope: "acme", policyVersion: "v2" }]) {
      expect(decide(resource)).toBe(UNSURE);
      expect(decide(resource)).toBe(ALLOW);
    }
    expect(decide({ scope: "", policyVersion: "" })).toBe(ALLOW);
    for (let time = 0; time < 2; time += 1) expect(decide({ scope: "none" })).toBe(UNSURE);
  });

  it("loads the fast paths of an unknown kind once", () => {
    module.lists = 0;
    for (let time = 0; time < 5; time += 1) decide({ kind: "else" });
    expect(module.lists).toBe(1);
  });
});

describe("code of the caller", () => {
  it("that decides in between invalidates the frame", () => {
    usePath({ slots: attributes("a", "b") });
    const inner: number[] = [];
    const attr = {
      get a(): boolean {
        inner.push(decide({ attr: { a: false } }));
        return true;
      },
      b: true,
    };
    expect(words(attr)).toBeUndefined();
    expect(new Set(inner)).toEqual(new Set([ALLOW]));
  });

  it("that changes nothing is called once for each member that is read", () => {
    usePath({ slots: attributes("a") });
    const get = vi.fn(() => true);
    const attr = Object.defineProperty({ b: 1 }, "a", { get, enumerable: true });
    expect(decide({ attr })).toBe(ALLOW);
    expect(get).toHaveBeenCalledTimes(1);
  });

  it("that throws passes its exception on", () => {
    usePath({ slots: attributes("a") });
    const attr = { get a(): boolean { throw new Error("not today"); } };
    expect(() => decide({ attr })).toThrow("not today");
  });
});

describe("programs", () => {
  it("get texts and values in the arena, and the time if they need it", () => {
    const slots = [{ root: "resource.attr", path: ["a"], uses: 6 }, { root: "principal.roles", uses: 4 }];
    usePath({ flags: 2 | 4, slots });
    expect(words({ a: "text" })).toEqual([TEMPORARY, VALUE]);
    expect(decided).toMatchObject({ now: 7, used: 4 + 9 + 5 + 9 });
    expect([frame.spans[0], frame.spans[1]]).toEqual([4, 13]);
    expect(words({ a: [1] })).toEqual([VALUE, VALUE]);
    expect(words({ a: true })).toEqual([TRUE, VALUE]);
    expect(frame.spans[0]).toBe(0);
    expect(words({ a: [Number.NaN] })).toBeUndefined();
    expect(words({ a: "\ud800" })).toBeUndefined();
  });

  it("get all attributes as one value, even if there is none", () => {
    usePath({ flags: 2, slots: [{ root: "resource.attr", uses: 4 }] });
    expect(words({})).toEqual([VALUE]);
    expect(decided).toMatchObject({ now: 0, used: 4 + 5 });
    expect(words({ a: 1 })).toEqual([VALUE]);
  });
});

describe("a frame that died", () => {
  it("decides nothing", () => {
    usePath({ slots: [] });
    fastPaths.reset();
    expect(decide()).toBe(UNSURE);
    expect(DENY).toBe(0);
  });
});
