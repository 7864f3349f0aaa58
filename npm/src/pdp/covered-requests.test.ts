// Requests that the fast path decides: no call of the general path, and the answer of `check`.

import { describe, expect, it, vi } from "vitest";

import { openSync } from "./open.ts";
import { accessorsOf, atNoon, fixture, onLists, onOne, withActions } from "../testing.ts";
import type { ActionRequest } from "./types.ts";

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

/** Decides by every method, and fails if one needs the general path or differs from `check`. */
function decided(make: () => ActionRequest): boolean {
  const { action, resource } = make();
  const right = pdp.check(withActions(make(), [action])).actions[action]?.effect === "allow";
  // The memory may have grown since the last decision; the first one finds the frame again.
  for (const one of [pdp, accessed]) one.isAllowed(make());
  const before = general.calls;
  for (const [way, decide] of [...onOne, ...onLists]) {
    expect(decide(pdp, make, { kind: resource.kind, action }), way).toBe(right);
    expect(general.calls - before, way).toBe(0);
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
