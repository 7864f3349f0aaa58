// The methods of decisions, and the methods of a PDP that are made of others.

import { describe, expect, it } from "vitest";

import { open } from "./open.ts";
import { album, atNoon, openAlbum, thrownBy, viewing } from "../testing.ts";
import type { Decision } from "../index.ts";

const pdp = await openAlbum();
const { principal, resource } = viewing();
const owned = { ...resource, attr: { owner: "ada" } };
const request = { principal, resource: owned, actions: ["view", "edit", "burn"] } as const;
/** A request that no fast path decides. */
const unusual = { ...request, resource: { ...owned, attr: new Map([["owner", "ada"]]) as never } };

/** Every way to a decision on these actions. */
const ways: readonly (readonly [string, () => Decision<"view" | "edit" | "burn">])[] = [
  ["check", () => pdp.check(request)],
  ["check on the general path", () => pdp.check(unusual)],
  ["checkMany", () => pdp.checkMany([request])[0]],
  ["checkMany with a bound", () => pdp.checkMany([request], { maxSteps: 1_000_000 })[0]],
];

describe.each(ways)("the decision of %s", (_, decide) => {
  it("says which actions are allowed", () => {
    const decision = decide();
    expect([decision.isAllowed("view"), decision.isAllowed("edit"), decision.isAllowed("burn")]).toEqual([true, true, false]);
    expect([decision.allowedActions(), decision.allAllowed()]).toEqual([["view", "edit"], false]);
  });

  it("has the data alone in JSON, in copies, in clones and in comparisons", () => {
    const decision = decide();
    const bytes = new TextDecoder().decode(pdp.decisionBytes(request));
    expect(JSON.stringify(decision)).toBe(JSON.stringify(JSON.parse(bytes)));
    expect(Object.keys({ ...decision })).toEqual(["requestId", "resourceId", "actions"]);
    expect(structuredClone(decision)).toEqual(JSON.parse(bytes));
    expect(decision).toEqual(JSON.parse(bytes));
  });
});

describe("a decision", () => {
  it("allows all actions only if there are some", () => {
    expect(pdp.check({ ...request, actions: ["view", "edit"] }).allAllowed()).toBe(true);
    expect(pdp.check({ ...request, actions: [] }).allAllowed()).toBe(false);
  });

  it("allows no action that it does not have", () => {
    const decision: Decision = pdp.check(request);
    for (const name of ["share", "toString", "constructor", "__proto__", ""]) expect(decision.isAllowed(name)).toBe(false);
    expect(pdp.check({ ...request, actions: ["__proto__"] }).isAllowed("__proto__")).toBe(false);
  });

  it("has its methods in an explanation", () => {
    expect(pdp.explain(viewing()).decision.isAllowed("view")).toBe(true);
  });

  it("has its methods if it has outputs", () => {
    const decision = pdp.check({ ...request, actions: ["echo"] });
    expect([decision.outputs?.length, decision.allowedActions()]).toEqual([1, ["echo"]]);
  });
});

describe("allowedActions", () => {
  it("are those of the kind that are allowed", () => {
    expect(pdp.allowedActions(principal, owned)).toEqual(pdp.actions("album").filter((action) => pdp.isAllowed({ principal, action, resource: owned })));
    expect(pdp.allowedActions(principal, resource)).not.toContain("edit");
    expect(pdp.allowedActions({ id: "bo", roles: [] }, owned)).toEqual([]);
    expect(pdp.allowedActions(principal, { kind: "safe", id: "s1" })).toEqual([]);
  });

  it("refuses what `check` refuses", () => {
    expect(thrownBy(() => pdp.allowedActions(principal, undefined as never))).toBeInstanceOf(TypeError);
    expect(thrownBy(() => pdp.allowedActions({ id: "ada" } as never, owned))).toBeInstanceOf(TypeError);
  });
});

describe("can", () => {
  it("is `isAllowed` of a prepared principal", () => {
    const ada = pdp.for(principal);
    expect([ada.can("edit", owned), ada.can("edit", resource), ada.can("burn", owned)]).toEqual([true, false, false]);
  });
});

describe("filter of rows", () => {
  interface Row {
    readonly key: number;
    readonly by: string;
  }
  const rows: readonly Row[] = Array.from({ length: 100 }, (_, key) => ({ key, by: key % 3 === 0 ? "ada" : "bo" }));
  const resourceOf = ({ key, by }: Row) => ({ kind: "album", id: `a${key}`, attr: { owner: by } });
  const mine = rows.filter(({ by }) => by === "ada");

  it("returns the rows themselves, in their order", () => {
    const found = pdp.filter({ principal, action: "edit", rows, resource: resourceOf });
    expect(found).toEqual(mine);
    expect(found.every((row) => rows.includes(row))).toBe(true);
    expect(rows).toHaveLength(100);
  });

  it("decides like a filter of their resources, on every path", () => {
    const dated = (row: Row) => ({ ...resourceOf(row), attr: row.key % 2 ? new Map([["owner", row.by]]) as never : { owner: row.by } });
    expect(pdp.filter({ principal, action: "edit", rows, resource: dated })).toEqual(mine);
    const kinds = (row: Row) => ({ ...resourceOf(row), kind: row.key % 2 ? "album" : "safe" });
    expect(pdp.filter({ principal, action: "edit", rows, resource: kinds })).toEqual(mine.filter(({ key }) => key % 2));
  });

  it("takes rows of any type, and makes each resource once", () => {
    let calls = 0;
    const resource = (owner: string) => ((calls += 1), { kind: "album", id: owner, attr: { owner } });
    expect(pdp.filter({ principal, action: "edit", rows: ["ada", "bo", "ada"], resource })).toEqual(["ada", "ada"]);
    expect(calls).toBe(3);
    expect(pdp.filter({ principal, action: "edit", rows: [], resource })).toEqual([]);
  });

  it("passes on what the function throws, and refuses what is no function", () => {
    const check = (changes: object, message: string): void =>
      expect(() => pdp.filter({ principal, action: "edit", rows, resource: resourceOf, ...changes })).toThrow(message);
    check({ resource: () => { throw new Error("no such album"); } }, "no such album");
    check({ resource: undefined }, "resource must be a function of a row, found undefined");
    check({ rows: undefined }, "rows must be an array, found undefined");
    check({ resources: [] }, "unknown field `resources` in request, did you mean `resource`?");
    check({ resource: () => ({ id: "a1" }) }, "resource.kind must be a string, found undefined");
  });

  it("decides nothing once the PDP is disposed of, by the function too", async () => {
    const other = await open(album, atNoon);
    expect(() => other.filter({ principal, action: "edit", rows, resource: (row) => (other.dispose(), resourceOf(row)) })).toThrow("disposed");
  });
});
