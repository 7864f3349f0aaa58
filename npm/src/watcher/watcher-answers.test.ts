// A watcher with bad answers of its server.

import { describe, expect, it } from "vitest";

import {
  bundle,
  delta,
  events,
  first,
  next,
  old,
  polled,
  questions,
  ready,
  revision,
  ring,
  ringing,
  serve,
  settled,
  unchanged,
  watch,
  watcher,
  type Reply,
} from "./testing-watcher.ts";
import { album, viewing } from "../testing.ts";
import type { Outcome } from "./watcher.ts";

describe("a bad answer", () => {
  const endless = (): ReadableStream<Uint8Array> =>
    new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(1000)), cancel: () => void events.push("cancelled") });
  const page = new Response("<p>Welcome</p>", { headers: { "content-type": "text/html" } });
  const broken = (): ReadableStream<Uint8Array> => new ReadableStream({ pull: (to) => to.error(new Error("reset")) });
  const cases: readonly (readonly [string, Reply])[] = [
    ["failed not-fetched", new Error("no network")],
    ["failed not-fetched", new Response("gone", { status: 404 })],
    ["failed not-fetched", new Response("down", { status: 500 })],
    ["failed not-fetched", bundle(broken())],
    ["refused not-a-bundle", page],
    ["refused not-a-bundle", new Response(null, { status: 204 })],
    ["refused not-a-bundle", new Response("")],
    ["refused wrong-length", bundle(next.slice(0, -1))],
    ["refused not-signed", bundle(album)],
    ["failed not-fetched", () => { throw new TypeError("no such header"); }],
    ["failed", (() => "text") as never],
  ];

  it.each(cases)("is %s, and the last good bundle stays", async (event, reply) => {
    await ready();
    await ring(reply);
    expect([events.slice(2), revision(), watcher.pdp!.isAllowed(viewing())]).toEqual([[event], 7, true]);
    await ring(bundle(next));
    expect(revision()).toBe(8);
  });

  it.each(cases)("is %s, also as the first one", async (event, reply) => {
    await polled(reply);
    expect([events, watcher.pdp]).toEqual([[event], undefined]);
    await ring(first());
    expect((await watcher.ready).header.revision).toBe(7);
  });

  it("is a delta if no bundle is in use", async () => {
    await polled(bundle(delta));
    expect([events, questions.length]).toEqual([["refused delta"], 1]);
  });

  it("is refused if it does not end, and is read no further", async () => {
    await polled(() => bundle(endless()), { maxBytes: 10_000 });
    expect(events.sort()).toEqual(["cancelled", "refused too-large"]);
  });

  it("is given up when it takes too long, and is not used when it comes after all", async () => {
    let answer: (response: Response) => void = () => {};
    await polled(() => new Promise((resolve) => (answer = resolve)), { timeout: 500 });
    expect(ringing.map(({ after }) => after)).toEqual([500]);
    await ring(first());
    expect([events, questions[0]!.signal.aborted]).toEqual([["failed not-fetched"], true]);
    answer(first());
    await settled();
    expect([events.length, watcher.pdp]).toEqual([1, undefined]);
    await ring(bundle(new ReadableStream({})));
    await ring(first());
    expect(events).toEqual(["failed not-fetched", "failed not-fetched"]);
    await ring(first());
    expect(revision()).toBe(7);
  });

  it("is a 304 to a request without a condition", async () => {
    await polled(unchanged());
    expect(events).toEqual(["failed not-fetched"]);
  });

  it("delays the next poll more each time, until one succeeds", async () => {
    await ready(first(), { maxInterval: 5000 });
    const waits: number[] = [];
    for (const reply of [new Error(), bundle(old), new Error(), new Error(), unchanged(), first(), new Error()]) {
      await ring(reply);
      waits.push(ringing[0]!.after);
    }
    expect(waits).toEqual([2000, 4000, 5000, 5000, 5000, 1000, 2000]);
  });

  it("may set the time of the next poll", async () => {
    await polled(new Response("busy", { status: 503, headers: { "retry-after": "7" } }));
    expect(ringing[0]!.after).toBe(7000);
  });

  it("names the address without its secrets", async () => {
    serve(new Response("no", { status: 403 }));
    const outcome = (await watch({ interval: 0 }).refresh()) as Outcome & { readonly error: Error };
    expect(outcome.error.message).toContain("https://policies.example/album.bundle");
    expect(outcome.error.message).not.toContain("secret");
  });
});
