// Requests about kinds with schemas that reject: those that fit a flat schema are decided on the fast
// path, and every other one as by the general path, which `explain` always takes.

import { describe, expect, it, vi } from "vitest";

import { openSync } from "./open.ts";
import { accessorsOf, atNoon, fixture, onLists, onOne, withActions } from "../testing.ts";
import type { ActionRequest } from "./request-types.ts";

const general = vi.hoisted(() => ({ calls: 0 }));

vi.mock("../wasm/abi.ts", async (load) => {
  const abi = await load<typeof import("../wasm/abi.ts")>();
  const isAllowed: typeof abi.isAllowed = (...given) => {
    general.calls += 1;
    return abi.isAllowed(...given);
  };
  const check: typeof abi.check = (...given) => {
    general.calls += 1;
    return abi.check(...given);
  };
  return { ...abi, isAllowed, check };
});

const bundle = fixture("schemas.bundle");
const pdp = openSync(bundle, atNoon);
const accessed = openSync(bundle, { ...atNoon, accessors: await accessorsOf("schemas") });

const ACTIONS = ["own", "open", "peek", "read", "team", "list:all", "none"];

/** Returns a request of Ada about a document with these attributes. */
function asking(action: string, attr: unknown, own: unknown = { team: "red" }, kind = "doc"): ActionRequest {
  return { principal: { id: "ada", roles: ["user"], attr: own }, resource: { kind, id: "d1", attr }, action } as ActionRequest;
}

type Outcome = string | boolean;

function outcome(decide: () => boolean): Outcome {
  try {
    return decide();
  } catch (error) {
    return error instanceof Error ? error.constructor.name : String(error);
  }
}

/** Returns the outcome of every method, each with the number of calls of the general path. */
function outcomes(make: () => ActionRequest): [way: string, found: Outcome, calls: number][] {
  const { action, resource: { kind } } = make();
  const ways: [string, () => boolean][] = [...onOne, ...onLists].map(([way, decide]) => [way, () => decide(pdp, make, { kind, action })]);
  ways.push(["with accessors", () => accessed.isAllowed(make())]);
  ways.push(["check", () => pdp.check(withActions(make(), [action])).actions[action]?.effect === "allow"]);
  return ways.map(([way, decide]) => {
    const before = general.calls;
    return [way, outcome(decide), general.calls - before];
  });
}

function right(make: () => ActionRequest): Outcome {
  return outcome(() => pdp.explain(make()).decision.actions[make().action]?.effect === "allow");
}

/** Returns the requests about every action, which need the general path or not. */
function compare(make: (action: string) => ActionRequest, isFast: boolean | undefined, actions = ACTIONS): number {
  let allowed = 0;
  for (const action of actions) {
    const request = (): ActionRequest => make(action);
    // The first decision loads the fast path.
    outcomes(request);
    const expected = right(request);
    allowed += +(expected === true);
    for (const [way, found, calls] of outcomes(request)) {
      const what = `${way}, ${action}, ${Object.keys(make(action).resource.attr ?? {}).join()}`;
      expect(found, what).toBe(expected);
      // Only the general path reports errors.
      const isReported = way === "check" && typeof found === "boolean" && pdp.check(withActions(make(action), [action])).evaluationErrors !== undefined;
      if (isFast !== undefined) expect(calls === 0, what).toBe(isFast && !isReported);
    }
    const actionsOf = [action, "open"];
    const whole = (): unknown => {
      const bytes = pdp.decisionBytes(withActions(make(action), actionsOf));
      return JSON.parse(new TextDecoder().decode(bytes)) as unknown;
    };
    if (typeof expected === "boolean") expect(pdp.check(withActions(make(action), actionsOf))).toEqual(whole());
  }
  return allowed;
}

/** The actions that the schema of the resource is about. */
const VALIDATED = ACTIONS.filter((action) => action !== "peek");

describe("attributes that fit", () => {
  it("are decided on the fast path", () => {
    let allowed = 0;
    for (const attr of [
      { owner: "ada" },
      { owner: "eve", pages: 4, weight: 0.5, status: "open", team: null, flag: true },
      { owner: "ä", pages: 900, weight: -0, status: null, team: "red", flag: false },
      { owner: "12345678", pages: 0, weight: 1e300, status: 3 },
      { owner: "ada", pages: undefined, other: undefined },
      Object.assign(Object.create(null) as object, { owner: "ada" }),
    ]) {
      allowed += compare((action) => asking(action, attr), true);
      allowed += compare((action) => asking(action, attr, { team: "blue", more: [{}], [`${"x".repeat(256)}`]: 1 }), true);
      allowed += compare((action) => asking(action, attr, {}), true);
      allowed += compare((action) => asking(action, attr, undefined), true);
    }
    expect(allowed).toBeGreaterThan(60);
  });
});

describe("attributes that do not fit", () => {
  const table: readonly unknown[] = [
    undefined, {}, { owner: 1 }, { owner: "" }, { owner: "123456789" }, { owner: null }, { owner: ["ada"] }, { owner: {} },
    { owner: "ada", pages: 0.5 }, { owner: "ada", pages: -1 }, { owner: "ada", pages: 901 }, { owner: "ada", pages: "4" },
    { owner: "ada", status: "closed" }, { owner: "ada", status: 4 }, { owner: "ada", status: false }, { owner: "ada", team: 1 },
    { owner: "ada", flag: 1 }, { owner: "ada", other: 1 }, { owner: "ada", other: null }, { owner: "ada", toString: 1 },
  ];
  it.each(table.map((attr) => [attr]))("are refused with their faults: %j", (attr) => {
    expect(compare((action) => asking(action, attr), undefined)).toBe(1);
    const { validationErrors } = pdp.check(withActions(asking("own", attr), ["own"]));
    expect(validationErrors?.length).toBeGreaterThan(0);
    for (const action of VALIDATED) for (const [way, found, calls] of outcomes(() => asking(action, attr))) expect([found, calls > 0], way).toEqual([false, true]);
  });

  it("of the principal are refused too", () => {
    for (const own of [{ team: 1 }, { team: null }, { team: ["red"] }]) {
      expect(compare((action) => asking(action, { owner: "ada" }, own), false)).toBe(0);
    }
  });
});

describe("attributes of another form", () => {
  it("have the answer of the general path", () => {
    const proxied = new Proxy({ owner: "ada" }, {});
    const inherited = Object.create({ owner: "ada" }) as object;
    class Doc {
      owner = "ada";
    }
    const odd: readonly unknown[] = [
      { owner: "ada", pages: Number.NaN }, { owner: "ada", weight: Infinity }, { owner: "ada", pages: 3n }, { owner: "\ud800" },
      { owner: "😀😀" }, { owner: "😀😀😀😀😀" }, { owner: "ada", other: () => 1 }, { owner: Symbol("ada") }, { owner: new String("ada") },
      { owner: "ada", pages: new Number(3) }, { owner: "ada", flag: new Date(0) }, { owner: "ada", team: [, "red"] },
      proxied, inherited, new Doc(), new Map([["owner", "ada"]]), [], "ada", null, { ["__proto__"]: 1, owner: "ada" },
    ];
    for (const attr of odd) compare((action) => asking(action, attr), undefined, VALIDATED);
    for (const own of [{ team: Number.NaN }, { team: 1n }, { team: "\ud800" }, inherited, new Map([["team", 1]])]) {
      compare((action) => asking(action, { owner: "ada" }, own), undefined);
    }
    const many = Object.fromEntries(Array.from({ length: 1100 }, (_, at) => [`a${at}`, at]));
    compare((action) => asking(action, { owner: "ada" }, many), false);
    compare((action) => asking(action, { owner: "ada" }, { ["x".repeat(257)]: 1 }), false);
  });

  it("are read once where a slot has them", () => {
    for (const action of ["own", "read", "team"]) {
      let reads = 0;
      const attr = { get owner(): unknown { reads += 1; return reads === 1 ? "ada" : 7; }, status: "open", team: "red" };
      const make = (): ActionRequest => { reads = 0; return asking(action, attr); };
      const expected = right(make);
      expect(pdp.isAllowed(make()), action).toBe(expected);
      expect(pdp.check(withActions(make(), [action])).actions[action]?.effect === "allow", action).toBe(expected);
    }
    // A rule that looks below an attribute of the schema would read it twice.
    compare((action) => asking(action, { owner: "ada" }), false, ["below"]);
  });

  it("inherit nothing", () => {
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    for (const [name, value] of [["owner", "ada"], ["other", 1], ["pages", 0.5]] as const) {
      prototype[name] = value;
      try {
        for (const attr of [{}, { owner: "ada" }, { owner: "ada", pages: 3 }]) compare((action) => asking(action, attr), undefined);
      } finally {
        delete prototype[name];
      }
    }
  });
});

describe("a schema that is not flat", () => {
  it("is for the general path", () => {
    compare((action) => asking(action, { owner: "ada" }, {}, "tree"), false, ["own"]);
    compare((action) => asking(action, { owner: "ada", leaves: [{}] }, {}, "tree"), false, ["own"]);
    expect(compare((action) => asking(action, { owner: "ada", leaves: [1] }, {}, "tree"), false, ["own"])).toBe(0);
  });
});
