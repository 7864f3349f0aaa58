// Moments: the numbers of texts, and decisions about them on fast paths and on the general path.

import { describe, expect, it } from "vitest";

import { isWellFormed } from "../base/text.ts";
import { momentOf } from "./moment.ts";
import { openSync } from "../pdp/open.ts";
import { atNoon, unusual } from "../testing.ts";

const pdp = openSync(unusual, atNoon);
const ACTIONS = ["later", "passed", "dated", "sameMoment", "ordered", "hourly"];

/** Texts of the common form, and texts that are nearly so. */
const TEXTS: readonly string[] = [
  "", "never", "2024-05-06", "2024-05-06T07:08:09", "2024-05-06T07:08:09Z", "2024-05-06t07:08:09Z", "2024-05-06T07:08:09z",
  "2024-05-06 07:08:09Z", "2024-05-06T7:08:09Z", "2024-05-06T24:00:00Z", "2024-05-06T23:59:60Z", "2024-05-06T23:60:00Z",
  "2024-02-29T23:59:59.123Z", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "2024-02-30T00:00:00Z",
  "2024-04-31T00:00:00Z", "2024-13-01T00:00:00Z", "2024-00-10T00:00:00Z", "2024-05-00T00:00:00Z", "2024-05-06T07:08:09.Z",
  "2024-05-06T07:08:09,5Z", "2024-05-06T07:08:09.5Z", "2024-05-06T07:08:09.123456Z", "2024-05-06T07:08:09.1234567Z",
  "2024-05-06T07:08:09.123456789Z", "2024-05-06T07:08:09.1234567890Z", "2024-05-06T07:08:09.000001Z", "2024-05-06T07:08:08.999999Z",
  "2024-05-06T07:08:09+02:00", "2024-05-06T07:08:09-02:30", "2024-05-06T07:08:09+23:59", "2024-05-06T07:08:09+24:00",
  "2024-05-06T07:08:09+24:60", "2024-05-06T07:08:09+25:00", "2024-05-06T07:08:09+00:60", "2024-05-06T07:08:09+0200",
  "2024-05-06T07:08:09Z ", " 2024-05-06T07:08:09Z", "2024-05-06T07:08:09ZZ", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01",
  "0000-12-31T23:59:59Z", "0001-01-01T00:00:00.000001Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z",
  "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-00:01", "+2024-05-06T07:08:09Z", "10000-01-01T00:00:00Z",
  "-001-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00Z", "2109-05-15T07:35:10.999999Z",
  "2109-05-15T07:35:11.000001Z", "2024-05-06T07:08:09Z\ud800", "\ud800", "２024-05-06T07:08:09Z", "2024-05-06T07:08:09.５Z",
];

/** Returns texts whose clocks are the noon of the tests, a moment before and after it. */
const aroundNoon = (): string[] => {
  const noon = atNoon.clock();
  return [-3_600_000, -1, 0, 1, 3_600_000].map((distance) => new Date(noon + distance).toISOString());
};

/** The answers of all actions about two texts, on fast paths and on the general path. */
const answers = (x: unknown, x2: unknown): [fast: unknown, check: unknown, general: unknown] => {
  const principal = { id: "ada", roles: ["user"] };
  const resource = { kind: "thing", id: "t1", attr: { x, x2 } };
  const effects = (actions: Readonly<Record<string, { effect: string }>>): boolean[] => ACTIONS.map((action) => actions[action]?.effect === "allow");
  const outcome = (decide: () => boolean[]): unknown => {
    try {
      return decide();
    } catch (error) {
      return String(error);
    }
  };
  return [
    outcome(() => ACTIONS.map((action) => pdp.isAllowed({ principal, action, resource }))),
    outcome(() => effects(pdp.check({ principal, actions: ACTIONS, resource }).actions)),
    outcome(() => ACTIONS.map((action) => pdp.explain({ principal, action, resource }).decision.actions[action]!.effect === "allow")),
  ];
};

describe("a moment", () => {
  it("has the milliseconds of its text", () => {
    let seed = 1;
    const below = (bound: number): number => (seed = (seed * 48_271) % 2_147_483_647) % bound;
    for (let round = 0; round < 20_000; round += 1) {
      const time = (below(2_147_483_646) - 62_135_596) * 115_000 + below(1000);
      if (time < Date.UTC(1, 0, 1) - 1e15 || time > 253_402_300_799_999) continue;
      const text = new Date(time).toISOString();
      if (text.length === 24) expect(momentOf(text), text).toBe(time);
    }
    expect(momentOf("2024-05-06T07:08:09.5+02:00")).toBe(Date.parse("2024-05-06T05:08:09.500Z"));
    expect(momentOf("9999-12-31T23:59:59.999Z")).toBe(253_402_300_799_999);
    expect(momentOf("0001-01-01T00:00:00Z")).toBe(-62_135_596_800_000);
  });

  it("is compared as on the general path, whatever its text is", () => {
    const texts = [...TEXTS, ...aroundNoon()];
    for (const [at, x] of texts.entries()) {
      for (const [other, x2] of texts.entries()) {
        // All pairs would take seconds.
        if (at !== other && (at + other) % 11 !== 0) continue;
        const [fast, check, general] = answers(x, x2);
        // What the general path refuses, a fast path may accept where the rule does not read it.
        if (typeof general === "string" && !(isWellFormed(x) && isWellFormed(x2))) continue;
        expect(fast, `${x} ${x2}`).toEqual(general);
        expect(check, `${x} ${x2}`).toEqual(general);
      }
    }
  });

  it("changes as one text does", () => {
    const common = "2024-05-06T07:08:09.250-05:30";
    for (let at = 0; at <= common.length; at += 1) {
      for (const letter of ["", "0", "3", "9", "Z", "T", ":", ".", "+", "-", " ", "\0"]) {
        for (const text of [common.slice(0, at) + letter + common.slice(at + 1), common.slice(0, at) + letter + common.slice(at)]) {
          const [fast, check, general] = answers(text, common);
          expect([fast, check], text).toEqual([general, general]);
        }
      }
    }
  });
});

describe("the time", () => {
  it("is read once for a check", () => {
    let calls = 0;
    const counting = openSync(unusual, { ...atNoon, clock: () => atNoon.clock() + calls++ });
    const principal = { id: "ada", roles: ["user"] };
    const resource = { kind: "thing", id: "t1", attr: { x: new Date(atNoon.clock() + 1).toISOString(), x2: "" } };
    const ask = (): boolean[] => {
      const { actions } = counting.check({ principal, actions: ["later", "passed"], resource });
      return [actions["later"]!.effect === "allow", actions["passed"]!.effect === "allow"];
    };
    ask();
    calls = 0;
    expect(ask()).toEqual([true, false]);
    expect(calls).toBe(1);
    expect(ask()).toEqual([false, true]);
  });

  it.each([NaN, Infinity, -1e20, 1e20])("is refused if it is %s", (time) => {
    const odd = openSync(unusual, { ...atNoon, now: atNoon.clock(), clock: () => time } as never);
    const principal = { id: "ada", roles: ["user"] };
    const resource = { kind: "thing", id: "t1", attr: { x: "2024-05-06T07:08:09Z" } };
    expect(() => odd.isAllowed({ principal, action: "later", resource })).toThrow("clock");
  });
});
