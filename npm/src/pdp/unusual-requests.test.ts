// Requests that only JavaScript can make: the answers of `isAllowed` and `check` equal that of the
// general path, which `explain` always takes.
//
// All have the same effect or throw the same class of error. A fast path may accept a request that
// the general path refuses: then its answer is the one for a readable request of the same sort. A rule that
// only compares two texts does not depend on whether one of them is well formed.

import { describe, expect, it } from "vitest";

import { openSync } from "./open.ts";
import { accessorsOf, atNoon, onLists, onOne, unusual, withActions } from "../testing.ts";
import type { ActionRequest } from "./request-types.ts";

const ACTIONS = [
  "any", "equal", "constant", "other", "flag", "number", "zero", "present", "absent", "nothing", "nested",
  "nestedPresent", "listed", "text", "size", "same", "inherited", "principal", "unknown",
  "member", "holder", "pair", "every", "none", "ends", "inside", "long",
  "later", "passed", "dated", "sameMoment", "ordered", "hourly", "topic", "filled", "withoutMember",
];

const pdp = openSync(unusual, atNoon);
const accessed = openSync(unusual, { ...atNoon, accessors: await accessorsOf("unusual") });
// The first request about a kind loads its fast paths.
for (const one of [pdp, accessed]) for (const action of ACTIONS) one.isAllowed(request({}, { action }));

type Parts = { principal?: unknown; resource?: unknown };

function request(parts: Parts, more: object = {}): ActionRequest {
  const principal = { id: "ada", roles: ["user"] };
  return { principal, resource: { kind: "thing", id: "t1" }, ...parts, ...more } as ActionRequest;
}

/**
 * Returns a request about a resource with these attributes, or with another value in their place.
 */
function having(attr: unknown): Parts {
  return { resource: { kind: "thing", id: "t1", attr } };
}

/** The outcome of a method. */
type Outcome = boolean | string;

function outcome(decide: () => boolean): Outcome {
  try {
    return decide();
  } catch (error) {
    return error instanceof Error ? error.constructor.name : String(error);
  }
}

/** Returns the outcome of every method for one action, with its name. */
function answers(parts: () => Parts, action: string): [way: string, Outcome][] {
  const make = (): ActionRequest => request(parts(), { action });
  const ways = [...onOne, ...onLists].map(([way, decide]): [string, Outcome] => [
    way,
    outcome(() => decide(pdp, make, { kind: "thing", action })),
  ]);
  const check = (): boolean => pdp.check(withActions(make(), [action])).actions[action]?.effect === "allow";
  return [["isAllowed with accessors", outcome(() => accessed.isAllowed(make()))], ["check", outcome(check)], ...ways];
}

function checked(parts: () => Parts, action: string): Outcome {
  return outcome(() => pdp.explain(request(parts(), { action })).decision.actions[action]?.effect === "allow");
}

/**
 * Compares every method with `explain`, for every action. A request that `explain` refuses may be
 * answered like the readable one.
 */
function same(parts: () => Parts, like?: () => Parts): void {
  for (const action of ACTIONS) compare(action, parts, like === undefined ? [] : [like]);
}

/** Compares every method with `explain`, or where that refuses, with it about one of `others`. */
function compare(action: string, parts: () => Parts, others: readonly (() => Parts)[]): void {
  const right = [checked(parts, action)];
  if (typeof right[0] === "string") right.push(...others.map((like) => checked(like, action)));
  for (const [way, answer] of answers(parts, action)) expect(right, `${action}, ${way}`).toContain(answer);
}

/**
 * Does the same for an attribute that most actions read; for the other actions its value does not
 * matter.
 */
function sameAttribute(value: () => unknown, like?: unknown): void {
  for (const action of ACTIONS) {
    const isRead = !["any", "inherited", "principal", "unknown"].includes(action);
    const others = [...(isRead ? [] : [{}]), ...(like === undefined ? [] : [{ x: like, x2: like }])];
    compare(action, () => having({ x: value(), x2: value() }), others.map((attr) => () => having(attr)));
  }
}

/** Returns a string that is joined from parts, not flat in memory. */
function joined(text: string): string {
  return [...text].reduce((joined, letter) => joined + letter, "");
}

class Owned {
  x = "ada";
}

class Inheriting {
  get x(): string {
    return "ada";
  }
}

describe("an attribute", () => {
  // The third value is like the second, but readable.
  const table: readonly (readonly [string, () => unknown, unknown?])[] = [
    ["undefined", () => undefined],
    ["null", () => null],
    ["true", () => true],
    ["false", () => false],
    ["an expected text", () => "ada"],
    ["an empty text", () => ""],
    ["a text joined of pieces", () => joined("ada")],
    ["a long text joined of pieces", () => joined("a".repeat(40)) + "da"],
    ["a piece of a text", () => "xxadaxx".slice(2, 5)],
    ["a text longer than 64 KB", () => "a".repeat(70_000)],
    ["half a surrogate pair", () => "\ud800", "?"],
    ["the other half", () => "ada\udc00", "?"],
    ["a whole surrogate pair", () => "\u{1f5dd}"],
    ["the replacement character", () => "\ufffd"],
    ["a zero inside a text", () => "a\0da"],
    ["zero", () => 0],
    ["minus zero", () => -0],
    ["the smallest number", () => 5e-324],
    ["2^53 + 1", () => 2 ** 53 + 1],
    ["the largest number", () => Number.MAX_VALUE],
    ["NaN", () => Number.NaN],
    ["Infinity", () => Infinity],
    ["-Infinity", () => -Infinity],
    ["a bigint", () => 0n],
    ["a symbol", () => Symbol("ada")],
    ["a function", () => () => "ada"],
    ["a boxed text", () => new String("ada")],
    ["a boxed number", () => new Number(0)],
    ["a boxed boolean", () => new Boolean(true)],
    ["a Date", () => new Date(0)],
    ["an empty Set", () => new Set()],
    ["a Set of texts", () => new Set(["eve", "ada"])],
    ["a Set of scalars", () => new Set(["eve", 0, null, true])],
    ["a Set of objects", () => new Set([{ y: "ada", z: "eve" }, { y: 1 }])],
    ["a Set with a Date", () => new Set(["ada", new Date(0)])],
    ["a Set with a bigint", () => new Set(["ada", 1n])],
    ["a Set with NaN", () => new Set(["ada", Number.NaN])],
    ["a Set in a list", () => [new Set(["ada"])]],
    ["a large Set", () => new Set(Array.from({ length: 2000 }, (_, at) => (at === 1999 ? "ada" : `e${at}`)))],
    ["an instance of a subclass of Set", () => new (class extends Set {})(["ada"])],
    ["a proxy of a Set", () => new Proxy(new Set(["ada"]), {})],
    ["an object that says to be a Set", () => ({ [Symbol.toStringTag]: "Set" }), {}],
    ["an invalid Date", () => new Date(Number.NaN)],
    ["a regular expression", () => /ada/],
    ["a Set", () => new Set(["ada"])],
    ["a typed array", () => new Uint8Array(3)],
    ["an Error", () => new Error("ada")],
    ["a list", () => ["ada", 0, true]],
    ["a list of objects", () => [{ y: "ada", z: "eve" }, { y: "eve" }]],
    ["a list of objects of several kinds", () => [{ y: 1 }, { z: 1 }, { y: "ada" }, "ada"]],
    ["a list of a few kinds of things", () => [["ada"], { y: ["ada"] }, null, "ada"]],
    ["a list with a hole", () => ["ada", , "eve"], ["ada", "eve"]],
    ["a list with a getter", () => Object.defineProperty(["eve"], 0, { get: () => "ada" })],
    ["a list with a bad element behind a good one", () => ["ada", () => 0], ["ada"]],
    ["a list of proxies", () => [new Proxy({ y: "ada" }, {})]],
    ["a list of a class", () => [new Owned()]],
    ["a proxy of a list", () => new Proxy(["ada"], {})],
    ["a list of another prototype", () => Object.setPrototypeOf(["ada"], null) as unknown],
    ["a list of half a pair", () => ["\ud800"], ["?"]],
    ["an empty list", () => []],
    ["a list with a hole", () => [, "ada", 0], [0]],
    ["a list with undefined in it", () => [undefined, "ada", 0], [0]],
    ["a list that inherits from `Object`", () => Object.setPrototypeOf(["ada"], Object.prototype) as unknown],
    ["such a list with a member", () => Object.assign(Object.setPrototypeOf([], Object.prototype) as object, { y: "ada" })],
    ["a list without a prototype and with a member", () => Object.assign(Object.setPrototypeOf([], null) as object, { y: "ada" })],
    ["a list of such lists", () => [Object.assign(Object.setPrototypeOf([], Object.prototype) as object, { y: "ada", z: "eve" })]],
    ["an object with such a list", () => ({ y: Object.assign(Object.setPrototypeOf([], Object.prototype) as object, { z: 1 }) })],
    ["a list with a member of its own", () => Object.assign(["ada"], { y: "ada" })],
    ["a list of a class", () => new (class List extends Array<string> {})("ada", "a", "b")],
    ["a frozen list", () => Object.freeze(["ada", 0, true])],
    ["a proxy of a list", () => new Proxy(["ada", 0, true], {})],
    ["an object", () => ({ y: "ada" })],
    ["an object with undefined in it", () => ({ y: undefined, z: 1, ada: 1 })],
    ["an object with three members", () => ({ a: 1, b: 2, ada: 3 })],
    ["a frozen object", () => Object.freeze({ y: "ada" })],
    ["an object without a prototype", () => Object.assign(Object.create(null) as object, { y: "ada" })],
    ["an object that inherits", () => Object.create({ y: "ada" })],
    ["an object of a class", () => new Owned()],
    ["a getter", () => ({ get y() { return "ada"; } })],
    ["a proxy", () => new Proxy({ y: "ada" }, {})],
    ["a proxy that makes members up", () => new Proxy({}, { get: () => "ada", has: () => true })],
    ["a Map", () => new Map([["y", "ada"]])],
    ["a Map with odd keys", () => new Map([[1, "ada"]])],
    ["an own `__proto__`", () => JSON.parse('{"__proto__": {"y": "ada"}, "y": "eve"}') as unknown],
    ["a prototype that is set", () => ({ __proto__: { y: "ada" } })],
    ["arguments", () => (function () { return arguments; })(), {}],
    ["Math", () => Math, {}],
    ["toJSON", () => ({ toJSON: () => "ada" }), {}],
    ["valueOf", () => ({ valueOf: () => "ada", toString: () => "ada" }), {}],
    ["a list in itself", () => { const list: unknown[] = ["ada"]; list.push(list); return list; }, [0]],
    ["nesting without end", () => Array.from({ length: 70 }).reduce((inner: unknown) => ({ y: inner }), "ada"), { y: {} }],
    ["a revoked proxy", () => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; }],
  ];
  for (const [name, value, like] of table) it(`may be ${name}`, () => sameAttribute(value, like));
});

describe("a topic", () => {
  const topics = [
    "ada", "ada/x", "a", "a/b", "x/b/c/d", "$x/b", "$ada", "a//", "a//c", "a//c/d", "/b", "", "/", "+", "a/+", "#", "a/#", "a\0b", "ä/b",
    "\u{1f5dd}/b", "a/\ud800", "ada/x/ada", "ada/x/y", "ada/x/y/z", "a/b/".repeat(63) + "b", "a/b/".repeat(64), "a/".repeat(130), "x".repeat(257),
  ];
  const words = ["ada", "y", "", "a/b", "+", "#", "$SYS", "a\0", "\ud800", "\u{1f5dd}", "x".repeat(257), 1, null, undefined, ["a"], { filter: "a" }];
  const pairs = topics.flatMap((x) => [...words, ...topics].flatMap((x2) => [{ x, x2 }, { x: x2, x2: x }]));
  // What only half of a surrogate pair makes unreadable.
  const readable = (value: unknown): unknown => (typeof value === "string" ? value.replaceAll("\ud800", "?") : value);
  it("is matched by patterns and words of any form", () => {
    for (const { x, x2 } of pairs) {
      const like = having({ x: readable(x), x2: readable(x2) });
      for (const action of ["topic", "filled"]) compare(action, () => having({ x, x2 }), [() => like]);
    }
  });
  it("may be that of a filter", () => {
    for (const filter of ["ada", "+/b", "#", "a/+"]) for (const action of ["topic", "filled"]) compare(action, () => having({ x: { filter }, x2: "ada" }), []);
  });
  it("is decided on the fast path", () => {
    let count = 0;
    const clock = (): number => (count += 1);
    const timed = openSync(unusual, { ...atNoon, clock });
    const decide = (): boolean => timed.isAllowed(request(having({ x: "x/b/c", x2: "y" }), { action: "topic" }));
    decide();
    count = 0;
    expect([decide(), count]).toEqual([true, 0]);
  });
});

describe("attributes", () => {
  const table: readonly (readonly [string, () => unknown])[] = [
    ["undefined", () => undefined],
    ["null", () => null],
    ["a text", () => "ada"],
    ["a list", () => ["ada"]],
    ["a list that inherits from `Object`", () => Object.assign(Object.setPrototypeOf([], Object.prototype) as object, { x: "ada" })],
    ["a list without a prototype", () => Object.assign(Object.setPrototypeOf([], null) as object, { x: "ada" })],
    ["a function", () => Object.assign(() => 0, { x: "ada" })],
    ["a Map", () => new Map([["x", "ada"]])],
    ["frozen", () => Object.freeze({ x: "ada" })],
    ["sealed", () => Object.seal({ x: "ada" })],
    ["without a prototype", () => Object.assign(Object.create(null) as object, { x: "ada" })],
    ["inherited", () => Object.create({ x: "ada" })],
    ["inherited by a getter", () => new Inheriting()],
    ["of a class", () => new Owned()],
    ["a proxy", () => new Proxy({ x: "ada" }, {})],
    ["a proxy of another kind", () => new Proxy({ x: "ada" }, { getPrototypeOf: () => Owned.prototype })],
    ["under a symbol", () => ({ [Symbol.for("x")]: "ada" })],
    ["an own `__proto__`", () => JSON.parse('{"__proto__": {"x": "ada"}}') as unknown],
    ["an own `__proto__` without a prototype", () => Object.assign(Object.create(null) as object, JSON.parse('{"x": "eve", "__proto__": {"x": "ada"}}'))],
    ["an own `__proto__` that is null", () => JSON.parse('{"x": "ada", "__proto__": null}') as unknown],
    ["an own `__proto__` that is what others inherit", () => Object.defineProperty({ x: "ada" }, "__proto__", { value: Object.prototype, enumerable: true })],
    ["an own `__proto__` and more", () => JSON.parse('{"x": "eve", "__proto__": {"x": "ada"}}') as unknown],
    ["a prototype that is set", () => ({ __proto__: { x: "ada" } })],
    ["an own `constructor`", () => ({ constructor: "ada", x: "ada" })],
    ["a name for no kind", () => ({ [Symbol.toStringTag]: "Thing", x: "ada" })],
    ["arguments", () => (function (..._: unknown[]) { return Object.assign(arguments, { x: "ada" }); })()],
    ["a broken name", () => ({ "\ud800": 1, x: "ada" })],
    ["another realm's look", () => Object.setPrototypeOf({ x: "ada" }, Object.create(null) as object)],
  ];
  const liars: typeof table = [
    ["a proxy that makes members up", () => new Proxy({}, { get: () => "ada", has: () => true })],
    ["a proxy that throws", () => new Proxy({}, { get: () => { throw new EvalError("no"); } })],
  ];
  it.each([...table, ...liars])("of a resource may be %s", (_, attr) => same(() => having(attr()), () => having({ x: "ada" })));
  const owning = (attr: unknown): Parts => ({ principal: { id: "ada", roles: ["user"], attr } });
  it.each(table)("of a principal may be %s", (_, attr) => same(() => owning(attr()), () => owning({ x: "ada" })));

  // `explain` finds no `x` in these, the other methods do. JSON cannot contain them, and detecting
  // them would cost each decision more than everything else.
  const hidden: readonly (readonly [string, () => unknown])[] = [
    ["hidden", () => Object.defineProperty({}, "x", { value: "ada" })],
    ["in a proxy that does not list them", () => new Proxy({ x: "ada" }, { ownKeys: () => [] })],
    ["of what calls itself a Map", () => ({ [Symbol.toStringTag]: "Map", x: "ada" })],
    ["inherited behind a lie about it", () => Object.defineProperty(Object.create({ x: "ada" }) as object, "__proto__", { value: Object.prototype })],
  ];
  it.each(hidden)("are read by name if they are %s", (_, attr) => {
    for (const [way, answer] of answers(() => having(attr()), "equal")) expect(answer, way).toBe(true);
    expect(checked(() => having(attr()), "equal")).toBe(false);
  });
});

describe("roles", () => {
  const table: readonly (readonly [string, () => unknown, (readonly string[])?])[] = [
    ["none", () => []],
    ["absent", () => undefined],
    ["a text", () => "user"],
    ["a boxed text", () => [new String("user")]],
    ["a hole and one", () => [, "user"]],
    ["one and a hole", () => Object.assign(["user"], { length: 2 })],
    ["undefined and one", () => [undefined, "user"]],
    ["one and null", () => ["user", null]],
    ["one and a number", () => ["user", 1]],
    ["half a surrogate pair and one", () => ["\ud800", "user"], ["?", "user"]],
    ["a list in a list", () => [["user"]]],
    ["a Set", () => new Set(["user"])],
    ["like a list", () => ({ 0: "user", length: 1 })],
    ["frozen", () => Object.freeze(["user"])],
    ["a proxy", () => new Proxy(["user"], {})],
    ["a proxy that is shorter", () => new Proxy(["user"], { get: (of, name) => (name === "length" ? 0 : Reflect.get(of, name)) })],
    ["of a class", () => new (class List extends Array<string> {})("guest", "user")],
    ["joined of pieces", () => [joined("user")]],
    ["one many times", () => Array.from({ length: 100 }, () => "user")],
    ["many", () => Array.from({ length: 100 }, (_, at) => (at === 99 ? "user" : `r${at}`))],
    ["behind a getter", () => Object.defineProperty(["guest"], 0, { get: () => "user" })],
    ["the role of everybody", () => ["*"]],
    ["odd names", () => ["constructor", "__proto__", "", "user"]],
  ];
  const principal = (roles: unknown): Parts => ({ principal: { id: "ada", roles } });
  for (const [name, roles, like] of table) {
    it(`may be ${name}`, () => same(() => principal(roles()), () => principal(like)));
  }
});

describe("ids, kinds and parts", () => {
  const principal = (id: unknown) => () => ({ principal: { id, roles: ["user"] }, ...having({ x: "ada" }) });
  const resource = (changes: object) => () => ({ resource: { kind: "thing", id: "t1", attr: { x: "ada" }, ...changes } });
  const table: readonly (readonly [string, () => Parts, (() => Parts)?])[] = [
    ["an absent id", principal(undefined)],
    ["an id that is a number", principal(7)],
    ["a boxed id", principal(new String("ada"))],
    ["an id joined of pieces", principal(joined("ada"))],
    ["a broken id", principal("\ud800"), principal("?")],
    ["an empty id", principal("")],
    ["an inherited id", () => ({ principal: Object.assign(Object.create({ id: "ada" }) as object, { roles: ["user"] }) })],
    ["an absent kind", resource({ kind: undefined })],
    ["a boxed kind", resource({ kind: new String("thing") })],
    ["a kind joined of pieces", resource({ kind: joined("thing") })],
    ["a broken kind", resource({ kind: "\udc00" })],
    ["an odd kind", resource({ kind: "constructor" })],
    ["a resource without an id", resource({ id: undefined })],
    ["a resource with a broken id", resource({ id: "\ud800" }), resource({})],
    ["a scope", resource({ scope: "acme" })],
    ["a scope that is null", resource({ scope: null })],
    ["a version", resource({ policyVersion: "v2" })],
    ["an empty version and scope", resource({ policyVersion: "", scope: "." })],
    ["a principal that is a Map", () => ({ principal: new Map(Object.entries({ id: "ada", roles: ["user"] })) })],
    ["a principal that is null", () => ({ principal: null })],
    ["a resource that is a list", () => ({ resource: [] })],
    ["a proxy of a principal", () => ({ principal: new Proxy({ id: "ada", roles: ["user"] }, {}) })],
    ["a frozen resource", () => ({ resource: Object.freeze({ kind: "thing", id: "t1" }) })],
  ];
  for (const [name, parts, like] of table) it(`may be ${name}`, () => same(parts, like));
});

describe("a Set", () => {
  it("has the answers of the list of its elements", () => {
    let allowed = 0;
    const lists: readonly (readonly unknown[])[] = [[], ["ada"], ["eve", "ada"], ["eve", null, 1], [{ y: "ada", z: "x" }], [[1], { y: 2 }], ["eve", new Date(0)]];
    for (const list of lists) {
      for (const action of ACTIONS) {
        const right = checked(() => having({ x: list, x2: list }), action);
        allowed += +(right === true);
        for (const [way, answer] of answers(() => having({ x: new Set(list), x2: new Set(list) }), action)) {
          expect(answer, `${action}, ${way}, ${JSON.stringify(list)}`).toBe(right);
        }
      }
    }
    expect(allowed).toBeGreaterThan(20);
  });
});

describe("a getter", () => {
  it("that changes its answer is read once", () => {
    for (const action of ["equal", "constant", "flag", "number", "present", "same"]) {
      let reads = 0;
      const attr = { get x(): unknown { reads += 1; return reads === 1 ? "ada" : 7; }, x2: "ada" };
      expect(pdp.isAllowed(request(having(attr), { action })), action).toBe(!["flag", "number"].includes(action));
      expect(reads, action).toBe(1);
    }
  });

  it("that calls the PDP changes no answer", () => {
    for (const action of ACTIONS) {
      const nosy = (): Parts => having({
        get x(): unknown {
          for (const other of ACTIONS) pdp.isAllowed(request(having({ x: 0, x2: "eve" }), { action: other }));
          pdp.filter({ principal: { id: "eve", roles: [] }, action: "equal", resources: [{ kind: "thing", id: "t2" }] });
          return "ada";
        },
        x2: "ada",
      });
      const right = checked(() => having({ x: "ada", x2: "ada" }), action);
      for (const [way, answer] of answers(nosy, action)) expect(answer, `${action}, ${way}`).toBe(right);
    }
  });

  it("that throws passes its own error on", () => {
    const error = new EvalError("not today");
    const attr = { get x(): never { throw error; } };
    expect(() => pdp.isAllowed(request(having(attr), { action: "equal" }))).toThrow(error);
    expect(pdp.isAllowed(request(having({ x: "ada" }), { action: "equal" }))).toBe(true);
  });
});

describe("a member of Object.prototype", () => {
  /** Runs `act` while every object inherits a member. */
  function inherited(name: string, value: unknown, act: () => void): void {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype[name] = value;
    try {
      act();
    } finally {
      delete prototype[name];
    }
  }

  it("is no attribute", () => {
    inherited("x", "ada", () => {
      same(() => having({}));
      same(() => having({ x: "eve" }));
      same(() => having({ x: {} }));
    });
    same(() => having({}));
  });

  it.each(["id", "roles", "attr", "kind", "scope", "policyVersion"])("is no `%s` of a request", (name) => {
    inherited(name, name === "roles" ? ["user"] : name === "attr" ? { x: "ada" } : "thing", () => {
      same(() => ({}));
      same(() => ({ principal: { id: "ada" } }));
      same(() => ({ resource: { kind: "thing" } }));
    });
  });
});
