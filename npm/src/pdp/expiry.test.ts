// A bundle that expires while it is open. Time stands still until the test sets it.

import { describe, expect, it, vi } from "vitest";

import { expiryOf } from "./expiry.ts";
import type { BundleHeader } from "./header.ts";
import { open, openSync } from "./open.ts";
import { PoolExecutor } from "../pool/pool-executor.ts";
import { accessorsOf, album, inFull, noon, ofCode, onLists, onOne, releaseKey as trust, signed, trustFile, viewing } from "../testing.ts";
import { events, first, goTo, polled, ring, time, unchanged } from "../watcher/testing-watcher.ts";
import type { ActionRequest } from "./request-types.ts";
import type { Pdp } from "./types.ts";

/** The expiry time of the album that the release key has signed. */
const end = Date.UTC(2025, 0);
const accessors = await accessorsOf("album");
const DAY = 86_400_000;

let now: number;
function opened(more: object = {}, at = noon): Pdp {
  now = at;
  const pdp = openSync(signed, { trust, clock: () => now, ...more });
  // The first request about a kind loads its fast paths.
  answers(pdp);
  return pdp;
}

const { principal, resource } = viewing();
const owned = { ...resource, attr: { owner: "ada" } };
const rows = Array.from({ length: 100 }, () => owned);

/** Returns the answers of all methods. */
function answers(pdp: Pdp): boolean[] {
  return ["view", "edit"].flatMap((action) => {
    const make = (): ActionRequest => ({ principal, action, resource: owned });
    // A `Map` is left to the general path.
    const unsure = { ...resource, attr: new Map([["owner", "ada"]]) as never };
    return [
      pdp.isAllowed({ ...make(), resource: unsure }),
      pdp.filter({ principal, action, resources: rows }).length === 100,
      ...[...onOne, ...onLists, ...inFull].map(([, decide]) => decide(pdp, make, { kind: "album", action })),
    ];
  });
}

describe.each([["with accessors", { accessors }], ["without accessors", {}]])("a PDP %s", (_, more) => {
  it("denies everything from the moment on which its bundle expires", () => {
    const pdp = opened(more);
    for (const [at, isAllowed] of [[noon, true], [end - 1, true], [end, false], [end + 1, false], [end - 1, true], [Date.UTC(9999, 0), false]] as const) {
      now = at;
      expect(new Set(answers(pdp)), String(at)).toEqual(new Set([isAllowed]));
    }
    now = end;
    const { view } = pdp.check({ principal, actions: ["view"], resource }).actions;
    expect(view).toMatchObject({ effect: "deny", reason: { kind: "expired" } });
    expect(pdp.explain({ principal, action: "view", resource }).decision.actions["view"]?.reason).toEqual({ kind: "expired" });
    expect(pdp.actions("album").length).toBeGreaterThan(0);
  });

  it("goes on deciding with that option", () => {
    const pdp = opened({ ...more, afterExpiry: "decide" });
    now = end + DAY;
    expect(new Set(answers(pdp))).toEqual(new Set([true]));
  });

  it("reads no clock if the bundle never expires", () => {
    const clock = vi.fn(() => noon);
    const pdp = openSync(album, { trust: "unsigned", clock, ...more });
    const decide = (): boolean => pdp.isAllowed({ principal, action: "edit", resource: owned });
    decide();
    clock.mockClear();
    expect([decide(), pdp.for(principal).isAllowed("edit", owned), pdp.filter({ principal, action: "edit", resources: rows }).length]).toEqual([true, true, 100]);
    expect(clock).not.toHaveBeenCalled();
  });

  it("decides by the date of the bundle in use after a reload", () => {
    const pdp = opened(more);
    now = end;
    pdp.reload(trustFile("next.bundle"));
    expect(pdp.header.expires).toBeUndefined();
    expect(pdp.check({ principal, actions: ["view"], resource }).actions["view"]?.reason.kind).toBe("rule");
    expect(() => pdp.reload(signed)).toThrow(ofCode("expired"));
  });

  it("denies if the clock returns no time, or takes a serial", () => {
    const pdp = opened(more);
    now = Number.NaN;
    expect(() => pdp.isAllowed({ principal, action: "edit", resource: owned })).toThrow();
    let isNested = false;
    const nosy = openSync(signed, { trust, clock: () => {
      if (isNested) return now;
      isNested = true;
      nosy?.isAllowed({ principal: { id: "eve", roles: [] }, action: "edit", resource: owned });
      isNested = false;
      return now;
    }, now: noon, ...more });
    now = noon;
    expect([1, 2, 3].map(() => nosy.isAllowed({ principal, action: "edit", resource: owned }))).toEqual([true, true, true]);
  });
});

describe("the option", () => {
  it("is one of two words", () => {
    for (const afterExpiry of ["allow", "Deny", ""]) expect(() => opened({ afterExpiry }), afterExpiry).toThrow(RangeError);
    for (const afterExpiry of [true, null, 0]) expect(() => opened({ afterExpiry }), String(afterExpiry)).toThrow(TypeError);
    expect(answers(opened({ afterExpiry: "deny" }))).toContain(true);
  });

  it("opens no bundle that has expired already", async () => {
    for (const afterExpiry of ["deny", "decide"] as const) {
      await expect(open(signed, { trust, clock: () => end, afterExpiry })).rejects.toMatchObject({ code: "expired" });
    }
  });
});

describe("a worker of a pool", () => {
  it.each([["deny", 0], ["decide", 20]] as const)("denies or decides as its pool does (%s)", async (afterExpiry, allowed) => {
    const { accepted } = opened({ afterExpiry }) as unknown as { accepted: object };
    const messages: unknown[] = [];
    const work = new PoolExecutor((message) => messages.push(message));
    await work.receive({ kind: "open", opening: { ...accepted, code: undefined } as never });
    const request = { principal, action: "edit", resources: rows.slice(0, 20) };
    const { content } = opened().header;
    for (const [id, at] of [noon, end].entries()) await work.receive({ kind: "filter", id, request, now: at, content });
    const bits = (count: number): Uint32Array => Uint32Array.of(2 ** count - 1);
    expect(messages).toEqual([{ kind: "ready" }, { kind: "answer", id: 0, allowed: bits(20) }, { kind: "answer", id: 1, allowed: bits(allowed) }]);
  });
});

describe("a watcher", () => {
  it("reports once that its bundle expires soon, and once that it has", async () => {
    const reported: unknown[] = [];
    const on = {
      expiring: ({ revision }: BundleHeader, left: number) => reported.push(["expiring", revision, left]),
      expired: ({ revision }: BundleHeader) => reported.push(["expired", revision]),
    };
    const watcher = await polled(first(), { on });
    goTo(end - DAY - 1);
    await ring(unchanged());
    expect(reported).toEqual([]);
    for (const at of [end - DAY, end - 5, end, end + DAY]) {
      goTo(at);
      await ring(unchanged());
    }
    expect(reported).toEqual([["expiring", 7, DAY], ["expired", 7]]);
    expect(watcher.pdp?.isAllowed(viewing())).toBe(false);
    expect([events, time]).toEqual([[], end + DAY]);
  });

  it("passes on the decisions of its PDP", async () => {
    const watcher = await polled(first(), { afterExpiry: "decide" } as object);
    goTo(end);
    expect(watcher.pdp?.isAllowed(viewing())).toBe(true);
  });
});

describe("expiry", () => {
  it("is soon with a day left, or with a tenth of its time", () => {
    const check = (header: Partial<BundleHeader>, at: number, expected: object): void =>
      expect(expiryOf({ created: 0, ...header } as BundleHeader, at)).toEqual(expected);
    check({}, 7, { kind: "never" });
    check({ expires: 30 * DAY, notBefore: 0 }, 29 * DAY - 1, { kind: "valid", millisecondsLeft: DAY + 1 });
    check({ expires: 30 * DAY, notBefore: 0 }, 29 * DAY, { kind: "soon", millisecondsLeft: DAY });
    check({ expires: DAY, notBefore: 0 }, DAY * 0.9 - 1, { kind: "valid", millisecondsLeft: DAY / 10 + 1 });
    check({ expires: 2 * DAY, created: DAY }, DAY * 1.9, { kind: "soon", millisecondsLeft: DAY * 0.1 });
    check({ expires: 2 * DAY }, DAY, { kind: "soon", millisecondsLeft: DAY });
    for (const at of [DAY, 2 * DAY, Number.NaN]) check({ expires: DAY }, at, { kind: "expired" });
  });
});
