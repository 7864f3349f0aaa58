// The total of steps for the decisions of one `checkMany`.

import { afterAll, describe, expect, it } from "vitest";

import type { Decision } from "./decision.ts";
import { openSync } from "./open.ts";
import { atNoon, unusual } from "../testing.ts";
import type { CheckRequest } from "./request-types.ts";

const pdp = openSync(unusual, atNoon);
afterAll(() => pdp.dispose());

/** Returns a request whose condition reads every element of a list, at the cost of steps. */
function looking(elements: number, more: object = {}): CheckRequest {
  const x = Array.from({ length: elements }, (_, at) => `e${at}`);
  const attr = Object.defineProperties({ x: [...x, "ada"] }, Object.getOwnPropertyDescriptors(more)) as object;
  const resource = { kind: "thing", id: "t1", attr };
  return { principal: { id: "ada", roles: ["user"] }, actions: ["listed"], resource };
}

const reasons = (decisions: readonly Decision[]): string[] => decisions.map(({ actions }) => actions["listed"]!.reason.kind);
const many = Array.from({ length: 50 }, () => looking(100));

describe("checkMany", () => {
  it("shares its steps among its decisions, and denies the rest", () => {
    expect(new Set(reasons(pdp.checkMany(many)))).toEqual(new Set(["rule"]));
    const bounded = pdp.checkMany(many, { maxSteps: 2000 });
    const reached = reasons(bounded).indexOf("limit-reached");
    expect(reached).toBeGreaterThan(0);
    expect(new Set(reasons(bounded).slice(0, reached))).toEqual(new Set(["rule"]));
    expect(new Set(reasons(bounded).slice(reached))).toEqual(new Set(["limit-reached"]));
    expect(bounded.slice(reached).every(({ actions }) => actions["listed"]?.effect === "deny")).toBe(true);
    expect(new Set(reasons(pdp.checkMany(many, { maxSteps: 2 ** 32 - 2 })))).toEqual(new Set(["rule"]));
    expect(reasons(pdp.checkMany(many.slice(0, 2), { maxSteps: 0 }))).toEqual(["limit-reached", "limit-reached"]);
  });

  it("leaves every other call its own steps, also one within it, and after an error", () => {
    let within: Decision | undefined;
    const nosy = looking(1, { get y() { within = pdp.check(looking(100)); return 1; } });
    expect(reasons(pdp.checkMany([nosy, looking(100)], { maxSteps: 0 }))).toEqual(["limit-reached", "limit-reached"]);
    expect(reasons([within!])).toEqual(["rule"]);
    const failing = looking(1, { get y(): never { throw new EvalError("not today"); } });
    expect(() => pdp.checkMany([failing], { maxSteps: 0 })).toThrow(EvalError);
    expect(reasons([pdp.check(looking(100))])).toEqual(["rule"]);
    const nested = looking(1, { get y() { within = pdp.checkMany([looking(100)], { maxSteps: 1 })[0]; return 1; } });
    expect(reasons(pdp.checkMany([nested, looking(100)], { maxSteps: 100_000 }))).toEqual(["rule", "rule"]);
    expect(reasons([within!])).toEqual(["limit-reached"]);
  });

  it("refuses invalid options", () => {
    for (const maxSteps of [-1, 1.5, 2 ** 32 - 1, Number.NaN, Infinity]) expect(() => pdp.checkMany([], { maxSteps })).toThrow(RangeError);
    for (const maxSteps of ["1", null, true] as never[]) expect(() => pdp.checkMany([], { maxSteps })).toThrow(TypeError);
    for (const options of [null, 1, { maxstep: 1 }] as never[]) expect(() => pdp.checkMany([], options)).toThrow(TypeError);
  });
});
