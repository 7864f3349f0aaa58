// A watcher with a server that behaves.

import { describe, expect, it, vi } from "vitest";

import { open } from "../pdp/open.ts";
import {
  bundle,
  conditions,
  delta,
  events,
  first,
  next,
  old,
  otherDelta,
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
} from "./testing-watcher.ts";
import { album, noon, ofCode, releaseKey as trust, signed, viewing } from "../testing.ts";

describe("a watcher", () => {
  it("opens the first bundle", async () => {
    const pdp = await ready();
    expect([pdp.isAllowed(viewing()), pdp, events]).toEqual([true, watcher.pdp, ["loaded 7", "activated 7"]]);
    expect(questions[0]).toMatchObject({ headers: {}, cache: "no-store" });
    expect(ringing.map(({ after, unref }) => [after, vi.mocked(unref).mock.calls.length])).toEqual([[1000, 1]]);
  });

  it("puts a new bundle into use, in the same PDP", async () => {
    const pdp = await ready();
    await ring(bundle(next));
    expect([pdp.isAllowed(viewing()), revision()]).toEqual([false, 8]);
    expect(events).toEqual(["loaded 7", "activated 7", "loaded 8", "activated 8"]);
  });

  it("works on an open PDP, with its trusted keys", async () => {
    const pdp = await open(signed, { trust, clock: () => noon });
    expect(await ready(bundle(old), { pdp })).toBe(pdp);
    expect([events, revision()]).toEqual([["refused old-revision"], 7]);
    await ring(bundle(album));
    await ring(bundle(next));
    expect(events.slice(1)).toEqual(["refused not-signed", "loaded 8", "activated 8"]);
  });

  it("polls on demand only if the interval is 0", async () => {
    await polled(first(), { interval: 0 });
    expect([questions, ringing]).toEqual([[], []]);
    expect(await watcher.refresh()).toMatchObject({ kind: "activated", header: { revision: 7 } });
    expect(await watcher.refresh()).toEqual({ kind: "unchanged" });
    expect(ringing).toEqual([]);
  });

  it("has one poll in progress at a time", async () => {
    let answer: (response: Response) => void = () => {};
    serve(() => new Promise((resolve) => (answer = resolve)));
    const polls = [watch().refresh(), watcher.refresh()];
    await settled();
    polls.push(watcher.refresh());
    expect(questions).toHaveLength(1);
    answer(first());
    const [outcome, ...others] = await Promise.all(polls);
    expect(others).toEqual([outcome, outcome]);
    expect(events).toEqual(["loaded 7", "activated 7"]);
  });
});

describe("the condition of a poll", () => {
  it("is the tag of the last good bundle, and the same bundle is not sent again", async () => {
    await ready(first({ etag: '"7"', "last-modified": "Mon, 06 May 2024 10:00:00 GMT" }));
    await ring(unchanged());
    await ring(bundle(old, { etag: '"6"' }));
    await ring(bundle(next, { etag: 'W/"8"' }));
    await ring(unchanged());
    const seven = { "if-none-match": '"7"' };
    expect(conditions()).toEqual([{}, seven, seven, seven, { "if-none-match": 'W/"8"' }]);
    expect(events.slice(2)).toEqual(["unchanged", "refused old-revision", "loaded 8", "activated 8", "unchanged"]);
  });

  it("is the date if there is no tag, unless the same second may bring another bundle", async () => {
    const dated = (modified: string, date?: string): Response =>
      first({ "last-modified": `Mon, 06 May 2024 ${modified} GMT`, ...(date && { date: `Mon, 06 May 2024 ${date} GMT` }) });
    await ready(dated("10:00:00", "10:00:01"));
    await ring(dated("10:00:05", "10:00:05"));
    await ring(dated("10:00:05"));
    await ring(unchanged());
    expect(conditions()).toEqual([{}, { "if-modified-since": "Mon, 06 May 2024 10:00:00 GMT" }, {}, {}]);
    expect(events.slice(2)).toEqual(["unchanged", "unchanged", "failed not-fetched"]);
  });

  it("is a new tag for the same bytes, which are no new bundle", async () => {
    const pdp = await ready(first({ etag: '"a"' }));
    const reloads = vi.spyOn(pdp, "reload");
    await ring(first({ etag: '"b"' }));
    await ring(unchanged());
    expect([conditions()[2], reloads.mock.calls.length]).toEqual([{ "if-none-match": '"b"' }, 0]);
  });

  it("contains the headers of the host, which may change", async () => {
    let token = 0;
    await ready(first({ etag: '"7"' }), { headers: async () => ({ authorization: `Bearer ${(token += 1)}` }) });
    await ring(unchanged());
    expect(conditions()).toEqual([{ authorization: "Bearer 1" }, { authorization: "Bearer 2", "if-none-match": '"7"' }]);
    watcher.close();
    const headers = { authorization: "Bearer 3" };
    watch({ headers });
    headers.authorization = "";
    await settled();
    expect(conditions()[2]).toEqual({ authorization: "Bearer 3" });
  });
});

describe("a delta", () => {
  it("is applied to the bundle in use", async () => {
    await ready(first({ etag: '"7"' }));
    await ring(bundle(delta, { etag: '"8"' }));
    await ring(unchanged());
    expect([revision(), events.slice(2)]).toEqual([8, ["loaded 8", "activated 8", "unchanged"]]);
    expect(conditions()[2]).toEqual({ "if-none-match": '"8"' });
  });

  it("for another bundle makes the watcher fetch the whole one", async () => {
    await ready(first({ etag: '"7"' }));
    await ring(({ headers }) => (headers["if-none-match"] === undefined ? bundle(next) : bundle(otherDelta)));
    expect([revision(), events.slice(2)]).toEqual([8, ["loaded 8", "activated 8"]]);
    expect(conditions()).toEqual([{}, { "if-none-match": '"7"' }, {}]);
  });

  it("that never fits is refused after one more poll", async () => {
    await ready();
    await ring(bundle(otherDelta));
    expect([questions.length, events.slice(2), ringing[0]!.after]).toEqual([3, ["refused wrong-base"], 2000]);
  });

  it("that waits is refused when its base has gone", async () => {
    const pdp = await open(signed, { trust, clock: () => noon });
    await polled(bundle(delta), { pdp, activateOnLoad: false });
    pdp.reload(next);
    expect(() => watcher.activate()).toThrow(ofCode("wrong-base"));
  });
});

describe("two watchers", () => {
  it("of one PDP leave it with the newest bundle", async () => {
    const pdp = await open(old, { trust, clock: () => noon });
    const poll = async (reply: Response): Promise<string> => {
      serve(reply);
      const outcome = await watch({ pdp, interval: 0 }).refresh();
      return outcome.kind === "refused" ? outcome.error.code : outcome.kind;
    };
    expect([await poll(bundle(next)), await poll(first()), await poll(bundle(next))]).toEqual(["activated", "old-revision", "activated"]);
    expect(pdp.header.revision).toBe(8);
  });

  it("may update it at the same time", async () => {
    const pdp = await open(old, { trust, clock: () => noon });
    serve(first());
    const one = watch({ pdp, interval: 0 });
    const other = watch({ pdp, interval: 0 });
    const outcomes = await Promise.all([one.refresh(), other.refresh()]);
    expect([outcomes.map(({ kind }) => kind), pdp.header.revision]).toEqual([["activated", "activated"], 7]);
  });
});
