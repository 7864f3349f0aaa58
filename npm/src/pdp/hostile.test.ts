// Requests of a few MiB from an attacker. Each is decided or refused, and reading stops at the
// limits of a request. The tests count reads, not time.

import { describe, expect, it } from "vitest";

import { openSync } from "./open.ts";
import { atNoon, inFull, onLists, onOne, thrownBy, unusual } from "../testing.ts";
import type { Principal, Resource } from "./request-types.ts";

/** The largest number of values in a request, and the reads of each beside it. */
const MOST = 100_000;
const READS_OF_ONE = 8;
const LONG = 300_000;

const pdp = openSync(unusual, atNoon);

let reads = 0;
/** Returns the same object with counted reads. */
function counted<T extends object>(value: T): T {
  return new Proxy(value, {
    get: (of, name) => ((reads += 1), Reflect.get(of, name) as unknown),
    getOwnPropertyDescriptor: (of, name) => ((reads += 1), Reflect.getOwnPropertyDescriptor(of, name)),
  });
}

type Decide = (principal: Principal, resource: Resource) => unknown;
const target = { kind: "thing", action: "listed" };
// A filter of many rows would read each of them.
const single = onLists.filter(([name]) => name === "filter of a few");
const ways: readonly (readonly [string, Decide])[] = [
  ...[...onOne, ...single, ...inFull].map(([name, decide]): [string, Decide] => [
    name,
    (principal, resource) => decide(pdp, () => ({ principal, action: "listed", resource }), target),
  ]),
  ["checkMany", (principal, resource) => pdp.checkMany([{ principal, actions: ["listed"], resource }], { maxSteps: 1_000_000 })],
];

const ada: Principal = { id: "ada", roles: ["user"] };
const having = (x: unknown): Resource => ({ kind: "thing", id: "t1", attr: { x } }) as Resource;
const long = (): string[] => counted(Array.from({ length: LONG }, (_, at) => `e${at}`));

describe.each(ways)("%s", (_, decide) => {
  it("reads no more of a long list than a request may hold", () => {
    for (const [principal, resource, isRead] of [
      [ada, having(long()), true],
      [{ ...ada, roles: long() }, having(["ada"]), true],
      // No rule reads it: `explain` refuses it, and the other methods do not read it.
      [{ ...ada, attr: { list: long() } }, having(["ada"]), false],
    ] as const) {
      reads = 0;
      const refused = thrownBy(() => decide(principal as Principal, resource));
      if (isRead || refused !== undefined) expect(refused).toBeInstanceOf(RangeError);
      // Preparing a principal copies it once.
      expect(reads).toBeLessThan(LONG * 2 + READS_OF_ONE * MOST);
    }
  });

  it("refuses wide, deep, or large values", () => {
    const wide = Object.fromEntries(Array.from({ length: 150_000 }, (_, at) => [`m${at}`, at]));
    const deep = Array.from({ length: 100_000 }).reduce((inner: unknown) => [inner], 0);
    const shared = Array.from({ length: 40 }).reduce((inner: unknown) => [inner, inner], ["x"]);
    for (const x of [wide, deep, shared]) {
      expect(() => decide(ada, having(x))).toThrow(/past the|nests deeper/);
    }
  });

  it("decides on one long text", () => {
    const text = "x".repeat(4 * 2 ** 20);
    expect(() => decide({ ...ada, attr: { text } }, having(["ada", text]))).not.toThrow();
  });
});

describe("a check of many actions", () => {
  it("is decided or refused, whatever their number", () => {
    const actions = (length: number): string[] => Array.from({ length }, (_, at) => `a${at}`);
    expect(Object.keys(pdp.check({ principal: ada, actions: actions(2000), resource: having(["ada"]) }).actions)).toHaveLength(2000);
    expect(() => pdp.check({ principal: ada, actions: actions(LONG), resource: having(["ada"]) })).toThrow(RangeError);
  });
});
