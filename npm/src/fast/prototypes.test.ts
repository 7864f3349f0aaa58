// Requests whose objects run code while they are read: at the first read, at the second, and so on
// at every one.
//
// Reading always ends, and every decision is one by the policies in use afterwards.

import { describe, expect, it } from "vitest";

import { WardgateError } from "../base/errors.ts";
import { openSync } from "../pdp/open.ts";
import { accessorsOf, atNoon, closed, unusual } from "../testing.ts";
import type { Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

const accessors = await accessorsOf("unusual");

/** Calls `act` at one of the reads, counted from 1, of all objects that it wraps. */
class Disturber {
  reads = 0;
  readonly #at: number;
  readonly #act: () => void;

  constructor(at: number, act: () => void) {
    this.#at = at;
    this.#act = act;
  }

  around<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    for (const [name, member] of Object.entries(value)) (value as Record<string, unknown>)[name] = this.around(member);
    const note = (): void => {
      this.reads += 1;
      if (this.reads === this.#at) this.#act();
    };
    return new Proxy(value, {
      get: (of, name) => (note(), Reflect.get(of, name) as unknown),
      has: (of, name) => (note(), Reflect.has(of, name)),
      getPrototypeOf: (of) => (note(), Reflect.getPrototypeOf(of)),
      ownKeys: (of) => (note(), Reflect.ownKeys(of)),
      getOwnPropertyDescriptor: (of, name) => (note(), Reflect.getOwnPropertyDescriptor(of, name)),
    });
  }
}

type Decide = (pdp: Pdp, action: string, parts: Parts) => boolean;
interface Parts {
  readonly principal: Principal;
  readonly resource: () => Resource;
  readonly around: <T>(value: T) => T;
}

const ways: readonly (readonly [string, Decide])[] = [
  ["isAllowed", (pdp, action, { principal, resource, around }) => pdp.isAllowed(around({ principal, action, resource: resource() }))],
  ["prepare", (pdp, action, { principal, resource, around }) =>
    pdp.prepare({ kind: "thing", action }).isAllowed(around(principal), around(resource()))],
  ["for", (pdp, action, { principal, resource, around }) => pdp.for(around(principal)).isAllowed(action, around(resource()))],
  ["for and prepare", (pdp, action, { principal, resource, around }) =>
    pdp.for(around(principal)).prepare({ kind: "thing", action }).isAllowed(around(resource()))],
  ["filter", (pdp, action, { principal, resource, around }) => {
    const resources = Array.from({ length: 17 }, resource);
    return pdp.filter(around({ principal, action, resources })).length === 17;
  }],
  ["check", (pdp, action, { principal, resource, around }) =>
    pdp.check(around({ principal, actions: [action], resource: resource() })).actions[action]?.effect === "allow"],
];

/** Requests that are allowed, one for each way in which rules read attributes. */
const requests: readonly (readonly [string, object, object?])[] = [
  ["any", {}],
  ["equal", { x: "ada" }],
  ["constant", { x: "ada" }],
  ["number", { x: -1 }],
  ["nested", { x: { y: "ada" } }],
  ["listed", { x: ["eve", "ada"] }],
  ["text", { x: "ada" }],
  ["same", { x: { y: [1] }, x2: { y: [1] } }],
  ["principal", {}, { x: "ada" }],
];

/**
 * Returns the outcome of a method if the objects run code at one of the reads, and whether that
 * read occurred.
 */
function disturbed(pdp: Pdp, decide: Decide, [action, attr, own]: (typeof requests)[number], at: number, act: () => void) {
  const disturber = new Disturber(at, act);
  const around = <T>(value: T): T => disturber.around(value);
  const principal = { id: "ada", roles: ["user"], ...(own && { attr: { ...own } }) } as Principal;
  const resource = (): Resource => ({ kind: "thing", id: "t1", attr: structuredClone(attr) }) as Resource;
  let found: boolean | string;
  try {
    found = decide(pdp, action, { principal, resource, around });
  } catch (thrown) {
    found = thrown instanceof WardgateError ? thrown.code : String(thrown);
  }
  return { found, wasDisturbed: disturber.reads >= at };
}

function opened(withAccessors: boolean): Pdp {
  const pdp = openSync(unusual, withAccessors ? { ...atNoon, accessors } : atNoon);
  loadFastPaths(pdp);
  return pdp;
}

/** The first request about a kind loads its fast paths. */
function loadFastPaths(pdp: Pdp): void {
  for (const [action] of requests) pdp.isAllowed({ principal: { id: "ada", roles: [] }, action, resource: { kind: "thing", id: "t" } });
}

/** A batch reads so often that a few requests suffice. */
function requestsFor(way: string): typeof requests {
  return way === "filter" ? requests.filter(([action]) => ["any", "equal", "nested"].includes(action)) : requests;
}

describe.each([["with accessors", true], ["without accessors", false]] as const)("%s", (_, withAccessors) => {
  it.each(ways)("%s ends after a reload at any read, and decides by the new policies", (way, decide) => {
    const pdp = opened(withAccessors);
    for (const request of requestsFor(way)) {
      for (let at = 1, isOver = false; !isOver; at += 1) {
        const { found, wasDisturbed } = disturbed(pdp, decide, request, at, () => pdp.reload(closed));
        expect(found, `${request[0]}, read ${at}`).toBe(!wasDisturbed);
        isOver = !wasDisturbed;
        pdp.reload(unusual);
        loadFastPaths(pdp);
      }
    }
    pdp.dispose();
  });

  it.each(ways)("%s ends after a dispose at any read, and decides nothing", (way, decide) => {
    for (const request of requestsFor(way)) {
      for (let at = 1, isOver = false; !isOver; at += 1) {
        const pdp = opened(withAccessors);
        const { found, wasDisturbed } = disturbed(pdp, decide, request, at, () => pdp.dispose());
        expect(found, `${request[0]}, read ${at}`).toBe(wasDisturbed ? "disposed" : true);
        isOver = !wasDisturbed;
        pdp.dispose();
      }
    }
  });
});
