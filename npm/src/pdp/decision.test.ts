// Decisions and explanations in JavaScript, and attributes on their way through the engine.

import { describe, expect, it } from "vitest";

import { open } from "./open.ts";
import { album, noon, openAlbum, viewing, withActions } from "../testing.ts";
import type { Decision } from "../index.ts";

const pdp = await openAlbum();

/** Returns the attributes of a resource as a policy reads them: its rule `echo` returns them. */
function seen(attr: object): unknown {
  return pdp.check(withActions(viewing({ resource: { attr } }), ["echo"])).outputs?.[0]?.val;
}

/** Decides several actions on an album of `ada`. */
function check(actions: readonly string[]): Decision {
  return pdp.check({ ...withActions(viewing({ resource: { attr: { owner: "ada" } } }), actions), requestId: "r1" });
}

describe("a decision", () => {
  it("has an entry for each action, with the rule that decided", () => {
    const decision = check(["view", "edit", "burn"]);
    expect(decision).toMatchObject({ requestId: "r1", resourceId: "a1" });
    const effects = Object.entries(decision.actions).map(([action, { effect }]) => [action, effect]);
    expect(effects).toEqual([["view", "allow"], ["edit", "allow"], ["burn", "deny"]]);
    expect(decision.actions["edit"]?.reason).toMatchObject({ kind: "rule" });
    expect(decision.actions["burn"]?.reason).toEqual({ kind: "no-rule-applied" });
  });

  it("is canonical JSON as bytes", () => {
    const request = withActions(viewing(), ["view"]);
    const bytes = pdp.decisionBytes(request);
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual(pdp.check(request));
  });

  it("takes its time from the clock of the options", async () => {
    const sharing = viewing({ request: { action: "share" } });
    const later = await open(album, { trust: "unsigned", clock: () => noon + 86_400_000 });
    expect([pdp.isAllowed(sharing), later.isAllowed(sharing)]).toEqual([true, false]);
    const broken = { trust: "unsigned", clock: () => Number.NaN } as const;
    await expect(open(album, broken)).rejects.toThrow(RangeError);
    const breaking = await open(album, { ...broken, now: noon });
    expect(() => breaking.isAllowed(sharing)).toThrow(RangeError);
  });
});

describe("an explanation", () => {
  it("contains the decision and the considered rules", () => {
    const explanation = pdp.explain(viewing({ request: { action: "edit" } }));
    expect(explanation.decision.actions["edit"]?.effect).toBe("deny");
    const step = explanation.steps?.find(({ rule }) => rule === "owners-edit");
    expect(step?.file).toMatch(/album\.yaml$/);
  });
});

describe("attributes", () => {
  it("arrive as they are", () => {
    const attr = { a: [1, -0.5, "two", true, null], b: { c: {} }, ü: "\u{1f5dd}" };
    expect(seen(attr)).toEqual(attr);
  });

  it("of a Date and a Map become text and an object", () => {
    const map = new Map<string, unknown>([["k", [new Map()]], ["gone", undefined]]);
    expect(seen({ at: new Date(noon), map })).toEqual({ at: "2024-05-06T12:00:00.000Z", map: { k: [{}] } });
  });

  it("that are undefined are absent", () => {
    expect(seen({ a: undefined, b: { c: undefined } })).toEqual({ b: {} });
  });

  it("of a class instance are its own ones", () => {
    class Owner {
      name = "ada";
      get inherited(): string { return "no"; }
      toJSON(): string { return "not called"; }
    }
    expect(seen({ owner: new Owner() })).toEqual({ owner: { name: "ada" } });
  });

  it("may have the names of inherited members", () => {
    const attr = JSON.parse('{"constructor": 1, "__proto__": {"x": 2}, "toString": 3}') as object;
    expect(JSON.stringify(seen(attr))).toBe('{"__proto__":{"x":2},"constructor":1,"toString":3}');
    expect(seen({})).toEqual({});
  });
});
