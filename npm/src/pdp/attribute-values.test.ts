// What the PDP reads of attributes that are objects of classes and rows of databases. A rule of the
// album returns the attributes that it was given, so the tests see what conditions see.

import { Decimal } from "@prisma/client-runtime-utils";
import { describe, expect, it, vi } from "vitest";

import { editing, openAlbum, viewing, withActions } from "../testing.ts";

const pdp = await openAlbum();

/** Returns the attributes that conditions see. */
function seen(attr: object): unknown {
  const { principal, resource } = viewing({ resource: { attr } });
  return pdp.check({ principal, resource, actions: ["echo"] }).outputs?.[0]?.val;
}

class Album {
  readonly owner = "ada";
  readonly unset = undefined;
  readonly #secret = 7;

  get title(): string {
    return `Sea ${this.#secret}`;
  }

  rename(): void {}
}

class Shared extends Album {
  readonly tags = ["sea"];
}

describe("an object of a class", () => {
  it("has its own members as attributes: no getter, method, private member or `undefined`", () => {
    expect(seen(new Album())).toEqual({ owner: "ada" });
    expect(seen(new Shared())).toEqual({ owner: "ada", tags: ["sea"] });
    expect(seen({ album: new Album() })).toEqual({ album: { owner: "ada" } });
  });

  it("is decided by them alone", () => {
    expect(pdp.isAllowed(editing(new Album()))).toBe(true);
    expect(pdp.isAllowed(editing(new (class { get owner() { return "ada"; } })()))).toBe(false);
    expect(pdp.isAllowed(editing(Object.create({ owner: "ada" })))).toBe(false);
  });

  it("has getters of which `explain` warns, if a rule reads one and no own member replaces it", () => {
    class Row { get owner() { return "ada"; } get unread() { return 1; } }
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const warnings = (attr: object): unknown[] => {
      warn.mockClear();
      pdp.explain(editing(attr));
      return warn.mock.calls.flat();
    };
    const expected = "wardgate: conditions do not see the getter `owner` of the class of resource.attr; write { ...attr, owner: attr.owner }";
    expect(warnings(new Row())).toEqual([expected]);
    expect(warnings(new (class extends Row {})())).toEqual([expected]);
    const replaced = Object.defineProperty(new Row(), "owner", { value: "ada", enumerable: true });
    for (const attr of [{ owner: "ada" }, { get owner() { return "ada"; } }, Object.create(null), new Map(), replaced]) expect(warnings(attr)).toEqual([]);
    warn.mockRestore();
  });

  it("has the value of a getter that is its own member", () => {
    expect(seen({ get owner() { return "ada"; } })).toEqual({ owner: "ada" });
    expect(pdp.isAllowed(editing({ get owner() { return "ada"; } }))).toBe(true);
  });

  it("has no member that is hidden from `Object.keys`", () => {
    expect(seen(Object.defineProperty({ a: 1 }, "owner", { value: "ada" }))).toEqual({ a: 1 });
    expect(seen({ a: 1, [Symbol("owner")]: "ada" })).toEqual({ a: 1 });
  });

  it("is not asked for its JSON", () => {
    expect(seen({ owner: "eve", toJSON: undefined, at: { day: 1 } })).toEqual({ owner: "eve", at: { day: 1 } });
    class Row { readonly owner = "eve"; toJSON(): object { return { owner: "ada" }; } }
    expect(seen(new Row())).toEqual({ owner: "eve" });
  });
});

describe("a value of a row", () => {
  it("is a text for a date, an object for a Map and a list for a Set", () => {
    const row = { at: new Date(0), counts: new Map([["views", 3]]), tags: new Set(["sea"]) };
    expect(seen(row)).toEqual({ at: "1970-01-01T00:00:00.000Z", counts: { views: 3 }, tags: ["sea"] });
  });

  it.each([
    ["a Decimal", new Decimal("7.50"), "resource.attr.owner must be a JSON value, found Decimal"],
    ["a bigint", 9n, "resource.attr.owner must be a JSON value, found bigint"],
    ["bytes", new Uint8Array(2), "resource.attr.owner must be a JSON value, found Uint8Array"],
    ["a promise", Promise.resolve("ada"), "resource.attr.owner must be a JSON value, found Promise"],
    ["a function", () => "ada", "resource.attr.owner must be a JSON value, found function"],
    ["a symbol", Symbol("ada"), "resource.attr.owner must be a JSON value, found symbol"],
    ["an expression", /ada/, "resource.attr.owner must be a JSON value, found RegExp"],
    ["NaN", Number.NaN, "resource.attr.owner must be a finite number, found NaN"],
  ])("is refused by name if it is %s and a rule reads it", (_, owner, message) => {
    expect(() => pdp.isAllowed(editing({ owner }))).toThrow(new TypeError(message));
    expect(() => pdp.check(withActions(editing({ owner }), ["edit"]))).toThrow(new TypeError(message));
  });

  it("does not matter if no rule about the action reads it", () => {
    const row = { owner: "ada", price: new Decimal(7), views: 9n, cover: new Uint8Array(2) };
    expect(pdp.isAllowed(editing(row))).toBe(true);
    expect(() => seen(row)).toThrow(new TypeError("resource.attr.price must be a JSON value, found Decimal"));
  });

  it("is refused as attributes if it has none", () => {
    for (const attr of [new Date(0), Promise.resolve({ owner: "ada" }), new Decimal(7), ["ada"], () => "ada"]) {
      expect(() => pdp.isAllowed(editing(attr))).toThrow(/^resource\.attr must be an object, found /);
    }
  });
});
