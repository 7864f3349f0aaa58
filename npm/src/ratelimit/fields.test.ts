// The fields, read by an independent reader of structured fields.

import { parseList } from "structured-headers";
import { describe, expect, it } from "vitest";

import { fields, problem, response } from "./fields.ts";
import { digestOf } from "./key.ts";
import type { Checked, Standing } from "./limiter.ts";

function standing(more: Partial<Standing> = {}): Standing {
  return { name: "api", key: ["sam"], quota: 100, burst: 100, window: 60_000_000, admits: true, remaining: 50, resetMs: 30_000, retryAfterMs: 0, state: "charged", ...more };
}

function refused(retryAfterMs: number, more: Partial<Standing> = {}): Standing {
  return standing({ admits: false, remaining: 0, state: "refused", retryAfterMs, ...more });
}

function checked(...limits: Standing[]): Checked {
  const denies = limits.filter(({ admits, state }) => !admits && state !== "shadow");
  return { allowed: denies.length === 0, unavailable: denies.some(({ state }) => state === "store-away"), limits };
}

type Item = readonly [name: unknown, parameters: { readonly [name: string]: unknown }];

function parsed(field: string | undefined): Item[] {
  return parseList(field!).map(([name, parameters]) => [name, Object.fromEntries([...parameters].map(([key, value]) => [key, value instanceof ArrayBuffer ? Buffer.from(value).toString("hex") : value]))]);
}

describe("fields", () => {
  it("are those of the draft", () => {
    const burst = standing({ name: "burst", resetMs: 29_001 });
    const daily = standing({ name: "daily", key: [], quota: 1000, window: 86_400_000_000, remaining: 999, resetMs: 1 });
    const found = fields(checked(burst, daily));
    const pk = digestOf(["sam"]);
    expect(parsed(found["RateLimit-Policy"])).toEqual([["burst", { q: 100, w: 60, pk }], ["daily", { q: 1000, w: 86_400 }]]);
    expect(parsed(found["RateLimit"])).toEqual([["burst", { r: 50, t: 30, pk }], ["daily", { r: 999, t: 1 }]]);
    expect(found["Retry-After"]).toBeUndefined();
    expect(fields(checked(burst), { partitionKey: false })).toEqual({ "RateLimit-Policy": '"burst";q=100;w=60', "RateLimit": '"burst";r=50;t=30' });
  });

  it("name those that refuse, and never an earlier time to retry", () => {
    const found = fields(checked(standing({ key: ["kim"] }), refused(1), refused(4001, { name: "slow" })));
    expect(parsed(found["RateLimit-Policy"]).map(([name]) => name)).toEqual(["api", "api", "slow"]);
    expect(parsed(found["RateLimit"]).map(([name, { t }]) => [name, t])).toEqual([["api", 1], ["slow", 5]]);
    expect(found["Retry-After"]).toBe("5");
  });

  it("have no time where the cost never will be there", () => {
    const found = fields(checked(refused(Infinity), refused(10, { key: ["kim"] })));
    expect(parsed(found["RateLimit"]).map(([, { t }]) => t)).toEqual([undefined, 1]);
    expect(found["Retry-After"]).toBeUndefined();
  });

  it("have no window of a month or of less than a second", () => {
    const found = fields(checked(standing({ window: "month" }), standing({ name: "half", window: 500_000 }), standing({ name: "more", window: 1_500_000 })));
    expect(parsed(found["RateLimit-Policy"]).map(([, { w }]) => w)).toEqual([undefined, undefined, undefined]);
  });

  it("tell a key of a limit once, as refused if it did, and 16 at most", () => {
    const told = (...limits: Standing[]): unknown[] => parsed(fields(checked(...limits))["RateLimit"]).map(([name, { r }]) => [name, r]);
    expect(told(standing({ remaining: 9 }), standing({ remaining: 8 }), standing({ name: "other" }))).toEqual([["api", 8], ["other", 50]]);
    expect(told(standing(), refused(1), standing({ remaining: 7 }))).toEqual([["api", 0]]);
    const many = Array.from({ length: 40 }, (_, at) => standing({ key: [`${at}`] }));
    expect(told(...many)).toHaveLength(16);
    expect(told(...many, refused(1, { name: "last" }))).toEqual([["last", 0]]);
    expect(parsed(fields(checked(...many, refused(1, { name: "last" })))["RateLimit-Policy"])[0]![0]).toBe("last");
  });

  it("leave out shadows, and what nobody knows", () => {
    const away = standing({ state: "store-away", remaining: 0, resetMs: 0 });
    expect(fields(checked(standing({ state: "shadow" })))).toEqual({});
    expect(Object.keys(fields(checked(away)))).toEqual(["RateLimit-Policy"]);
    expect(fields(checked({ ...away, admits: false, retryAfterMs: 1000 }))["Retry-After"]).toBe("1");
    expect(fields(checked())).toEqual({});
  });

  it.each(['a"b\\c', "grüße: 1", "日本", "a\r\nSet-Cookie: x", "\u007f\u0000", "😀, b;q=1"])("can have the name %j", (name) => {
    const found = fields(checked(standing({ name })));
    for (const field of Object.values(found)) expect(field).toMatch(/^[\x20-\x7e]*$/);
    const expected = /^[\x20-\x7e]*$/.test(name) ? name : undefined;
    for (const field of ["RateLimit", "RateLimit-Policy"]) {
      const [[read]] = parsed(found[field]) as [Item];
      if (expected === undefined) expect(decodeURIComponent(read as string)).toBe(name);
      else expect(read).toBe(expected);
    }
  });

  it("may have the largest numbers", () => {
    const found = fields(checked(refused(366 * 86_400_000, { quota: 10 ** 12, remaining: 10 ** 12 })));
    expect(parsed(found["RateLimit"])[0]![1]).toMatchObject({ r: 10 ** 12, t: 366 * 86_400 });
  });
});

describe("the reader", () => {
  // So that what it accepts of ours says something: the examples of the draft, and what is no list.
  it.each([
    ['"burst";q=100;w=60,"daily";q=1000;w=86400', [["burst", { q: 100, w: 60 }], ["daily", { q: 1000, w: 86_400 }]]],
    ['"default";q=100;w=10', [["default", { q: 100, w: 10 }]]],
    ['"peruser";q=100;w=60;pk=:cHsdsRa894==:', [["peruser", { q: 100, w: 60, pk: Buffer.from("cHsdsRa894==", "base64").toString("hex") }]]],
    ['"peruser";q=65535;qu="content-bytes";w=10;pk=:sdfjLJUOUH==:', [["peruser", { q: 65_535, qu: "content-bytes", w: 10, pk: Buffer.from("sdfjLJUOUH==", "base64").toString("hex") }]]],
    ['"default";r=50;t=30', [["default", { r: 50, t: 30 }]]],
    ['"protection";r=50;t=30', [["protection", { r: 50, t: 30 }]]],
  ])("accepts %s", (field, expected) => {
    expect(parsed(field)).toEqual(expected);
  });

  it.each(['"a;q=1', '"a";Q=1', '"ü";q=1', '"a";q=1000000000000000', '"a";q=1;pk=:!:'])("refuses %s", (field) => {
    expect(() => parseList(field)).toThrow();
  });
});

describe("a problem", () => {
  it("is that a quota is exceeded", async () => {
    const found = checked(standing(), refused(1500, { name: "slow" }), refused(1, { name: "dark", state: "shadow" }));
    expect(problem(found)).toEqual({
      type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
      title: "Request cannot be satisfied as assigned quota has been exceeded",
      status: 429,
      "violated-policies": ["slow"],
    });
    const answer = response(found)!;
    expect([answer.status, answer.headers.get("content-type"), answer.headers.get("retry-after")]).toEqual([429, "application/problem+json", "2"]);
    expect(await answer.json()).toEqual(problem(found));
  });

  it("is that the store is away", () => {
    const away = standing({ name: "strict", admits: false, state: "store-away", retryAfterMs: 1000 });
    const found = checked(refused(5), away, { ...away, name: "open", admits: true });
    expect(problem(found)).toMatchObject({ status: 503, "violated-policies": ["strict"] });
    expect(problem(found)!.type).toMatch(/#temporary-reduced-capacity$/);
  });

  it("is none while all admit", () => {
    expect([problem(checked(standing())), response(checked(standing()))]).toEqual([undefined, undefined]);
  });
});
