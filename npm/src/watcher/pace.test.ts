// The wait of a watcher, as numbers.

import { describe, expect, it } from "vitest";

import { readRetryAfter, wait, type PollHistory, type Pace } from "./pace.ts";
import { noon } from "../testing.ts";

const pace: Pace = { interval: 60_000, maxInterval: 600_000, jitter: 0.1, random: () => 0.5 };
const course: PollHistory = { failures: 0, hasBundle: true, retryAfter: 0 };

describe("a wait", () => {
  const check = (expected: number, given: Partial<Pace & PollHistory>): void => {
    expect(Math.round(wait({ ...pace, ...given }, { ...course, ...given }))).toBe(expected);
  };

  it("is the interval, a little more or less", () => {
    check(60_000, {});
    check(54_000, { random: () => 0 });
    check(66_000, { random: () => 1 });
    check(60_000, { random: () => 0, jitter: 0 });
    check(1, { random: () => 0, jitter: 1 });
  });

  it("doubles with each failure, up to a bound", () => {
    check(120_000, { failures: 1 });
    check(480_000, { failures: 3 });
    check(600_000, { failures: 4 });
    check(600_000, { failures: 1e9 });
    check(660_000, { failures: 1e9, random: () => 1 });
  });

  it("is short at first if there is no bundle", () => {
    check(2000, { failures: 1, hasBundle: false });
    check(4000, { failures: 2, hasBundle: false });
    check(600_000, { failures: 20, hasBundle: false });
    check(200, { failures: 1, hasBundle: false, interval: 100 });
  });

  it("is the time from the server, never shorter, and bounded", () => {
    check(315_000, { failures: 1, retryAfter: 300_000 });
    check(300_000, { failures: 1, retryAfter: 300_000, random: () => 0 });
    check(630_000, { failures: 1, retryAfter: 1e12 });
    check(120_000, { failures: 1, retryAfter: 5 });
  });

  it("ignores invalid numbers", () => {
    for (const invalid of [-1, 2, Number.NaN, Infinity]) check(60_000, { random: () => invalid });
    check(60_000, { random: () => { throw new Error("no dice"); } });
    check(2 ** 31 - 1, { interval: 2 ** 31 - 1, maxInterval: 2 ** 31 - 1, random: () => 1 });
  });
});

describe("Retry-After", () => {
  it("is seconds, a date or nothing", () => {
    const check = (expected: number, text: string | null): void => expect(readRetryAfter(text, noon)).toBe(expected);
    check(0, null);
    check(120_000, "120");
    check(0, "0");
    check(3_600_000, "Mon, 06 May 2024 13:00:00 GMT");
    check(0, "Mon, 06 May 2024 11:00:00 GMT");
    for (const invalid of ["", "soon", "-5", "1e99", "99999999999999999999"]) check(0, invalid);
  });
});
