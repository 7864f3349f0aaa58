// The control of the host over a watcher: activation, closing, and callbacks.

import { describe, expect, it, vi } from "vitest";

import { WardgateError, type Code } from "../base/errors.ts";
import { open } from "../pdp/open.ts";
import {
  bundle,
  conditions,
  events,
  first,
  goTo,
  next,
  old,
  polled,
  questions,
  ready,
  revision,
  ring,
  ringing,
  serve,
  time,
  unchanged,
  watch,
  watcher,
} from "./testing-watcher.ts";
import { noon, ofCode, releaseKey as trust, signed, viewing } from "../testing.ts";
import type { WatcherOptions } from "./watcher-options.ts";
import type { Outcome } from "./watcher.ts";

const never = (): Promise<Response> => new Promise(() => {});

describe("a switch by hand", () => {
  it("happens on activate", async () => {
    await polled(first({ etag: '"7"' }), { activateOnLoad: false });
    expect([events, watcher.pdp, watcher.waiting?.revision]).toEqual([["loaded 7"], undefined, 7]);
    await ring(unchanged());
    expect([watcher.activate(), watcher.activate(), watcher.waiting, revision()]).toEqual([true, false, undefined, 7]);
    const pdp = await watcher.ready;
    await ring(bundle(next));
    expect([pdp.isAllowed(viewing()), watcher.waiting?.revision]).toEqual([true, 8]);
    watcher.activate();
    expect([pdp.isAllowed(viewing()), watcher.pdp]).toEqual([false, pdp]);
    expect(events).toEqual(["loaded 7", "unchanged", "activated 7", "loaded 8", "activated 8"]);
  });

  it("takes the bundle that came last", async () => {
    await polled(first(), { activateOnLoad: false });
    await ring(bundle(next));
    watcher.activate();
    expect([revision(), events]).toEqual([8, ["loaded 7", "loaded 8", "activated 8"]]);
  });

  it.each([undefined, "pdp"])("verifies again, and polls without a condition afterwards (%s)", async (given) => {
    const pdp = given && (await open(signed, { trust, clock: () => time }));
    await polled(first({ etag: '"7"' }), { activateOnLoad: false, ...(pdp && { pdp }) });
    goTo(Date.UTC(2025, 0));
    expect(() => watcher.activate()).toThrow(ofCode("expired"));
    expect([watcher.waiting, watcher.activate()]).toEqual([undefined, false]);
    await ring(bundle(next));
    expect([conditions()[1], events]).toEqual([{}, ["loaded 7", "refused expired", "loaded 8"]]);
  });

  it("may depend on a function, which is called for good bundles only", async () => {
    const polls: number[] = [];
    const answers: unknown[] = [true, false, "yes", Promise.resolve(true), Promise.resolve(undefined)];
    const activate = ({ revision }: { readonly revision: number }): boolean => (polls.push(revision), answers.shift() as boolean);
    const bundles = [next, first, next, first, next];
    for (const expected of ["activated", "loaded", "loaded", "activated", "loaded"]) {
      const pdp = await open(old, { trust, clock: () => noon });
      const one = bundles.shift()!;
      serve(one === first ? first() : bundle(next));
      expect(await watch({ pdp, activate, interval: 0 }).refresh()).toMatchObject({ kind: expected });
      serve(bundle(next.slice(1)));
      await watcher.refresh();
    }
    expect(polls).toEqual([8, 7, 8, 7, 8]);
  });

  it("does not happen if that function fails or never answers, and it is called again", async () => {
    const answers = [() => { throw new Error("no"); }, () => Promise.reject(new Error("no")), () => new Promise(() => {}), () => true];
    await polled(first({ etag: '"7"' }), { activate: () => answers.shift()!() as boolean });
    await ring(first());
    await ring(first());
    expect(ringing.map(({ after }) => after)).toEqual([30_000]);
    await ring(first());
    expect([events, watcher.pdp, watcher.waiting]).toEqual([["loaded 7", "failed", "loaded 7", "failed", "loaded 7", "failed not-fetched"], undefined, undefined]);
    await ring(first());
    expect(revision()).toBe(7);
  });
});

describe("closing", () => {
  const closing = { code: "disposed" as Code, message: "this watcher is closed" };

  it("ends everything but the PDP", async () => {
    const pdp = await ready();
    watcher.close();
    watcher[Symbol.dispose]();
    expect([ringing, pdp.isAllowed(viewing())]).toEqual([[], true]);
    await expect(watcher.refresh()).rejects.toMatchObject(closing);
    expect(() => watcher.activate()).toThrow(WardgateError);
    expect(events).toEqual(["loaded 7", "activated 7"]);
  });

  it("ends a poll in progress", async () => {
    await polled(never);
    const polls = watcher.refresh();
    watcher.close();
    await expect(polls).rejects.toMatchObject(closing);
    await expect(watcher.ready).rejects.toMatchObject(closing);
    expect([questions[0]!.signal.aborted, ringing, events]).toEqual([true, [], []]);
  });

  it("ends the opening of a bundle that arrives at that moment", async () => {
    await polled(async () => (watcher.close(), first()));
    expect([events, watcher.pdp, ringing]).toEqual([[], undefined, []]);
  });

  it("may happen in a listener, and no event follows", async () => {
    for (const event of ["loaded", "activated", "unchanged", "failed"]) {
      const events: string[] = [];
      const close = (name: string) => () => (events.push(name), name === event && watcher.close());
      const on = { loaded: close("loaded"), activated: close("activated"), unchanged: close("unchanged"), failed: close("failed") };
      await polled(event === "failed" ? new Error() : first(), { on });
      if (event === "unchanged") await ring(first());
      expect([events.at(-1), ringing, event === "loaded" ? watcher.pdp : undefined]).toEqual([event, [], undefined]);
    }
  });

  it("frees a bundle that was never put into use", async () => {
    await polled(first(), { activateOnLoad: false });
    watcher.close();
    expect([watcher.waiting, watcher.pdp]).toEqual([undefined, undefined]);
  });

  it("follows a signal", async () => {
    const controller = new AbortController();
    await polled(never, { signal: controller.signal });
    controller.abort(new Error("shutdown"));
    await expect(watcher.ready).rejects.toThrow("shutdown");
    await expect(watcher.refresh()).rejects.toMatchObject(closing);
    await expect(watch({ signal: AbortSignal.abort() }).ready).rejects.toMatchObject({ name: "AbortError" });
    expect(questions).toHaveLength(1);
  });

  it("follows the end of the PDP", async () => {
    const pdp = await ready();
    pdp.dispose();
    await ring(bundle(next));
    expect([events.at(-1), ringing]).toEqual(["failed disposed", []]);
    await expect(watcher.refresh()).rejects.toMatchObject(closing);
  });
});

describe("functions of the caller", () => {
  it("may fail, which is reported and changes nothing", async () => {
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (error: Error) => reported.push(error.message));
    class Listener {
      loaded(): void {
        throw new Error(this.constructor.name);
      }
      async activated(): Promise<void> {
        throw new Error("later");
      }
    }
    await polled(first(), { on: new Listener() });
    expect([revision(), reported]).toEqual([7, ["Listener", "later"]]);
    vi.unstubAllGlobals();
  });

  it("may call refresh in between, and get the outcome of this poll", async () => {
    const outcomes: Promise<Outcome>[] = [];
    await polled(first(), { headers: () => (outcomes.push(watcher.refresh()), {}) });
    expect([questions.length, await outcomes[0]]).toMatchObject([1, { kind: "activated" }]);
  });

  it("may activate the waiting bundle at that moment", async () => {
    serve(first());
    const on = { loaded: () => watcher.activate(), activated: () => void events.push("activated") };
    expect(await watch({ on, activateOnLoad: false, interval: 0 }).refresh()).toMatchObject({ kind: "activated" });
    expect(events).toEqual(["activated"]);
  });

  it("may be missing headers, which is a failure", async () => {
    await polled(first(), { headers: () => Promise.reject(new Error("no token")) });
    expect([events, questions]).toEqual([["failed"], []]);
  });

  it("may be a broken clock", async () => {
    await polled(first(), { clock: () => { throw new Error("no time"); } } as Partial<WatcherOptions>);
    expect([events, ringing[0]!.after]).toEqual([["failed"], 2000]);
  });
});
