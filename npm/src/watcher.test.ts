// A watcher and its server, both under control: time stands still until a timer is rung.

import { beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import { WardgateError, type Code } from "./errors.ts";
import { load, open } from "./open.ts";
import { album, noon, releaseKey as trust, signed, trustFile, viewing } from "./testing.ts";
import type { FetchInit, WatcherOptions } from "./watcher-options.ts";
import { createWatcher, type Outcome, type Watcher } from "./watcher.ts";

const bytes = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(trustFile(name));
// The release key has signed 6, 7 and 8; 7 is valid in 2024. The delta leads from 7 to 8, the other from 6 to 8.
const [next, old] = [bytes("next.bundle"), bytes("old.bundle")];
const [delta, otherDelta] = [bytes("next.delta"), bytes("other.delta")];

/** What the server answers: the next in the list, and the last one again and again. */
type Reply = Response | Error | ((init: FetchInit) => Response | Promise<Response>);
let replies: Reply[];
let questions: FetchInit[];
let events: string[];
let ringing: { callback: () => void; after: number; unref: () => void }[];
let time: number;
let watcher: Watcher;

beforeAll(() => load());
beforeEach(() => {
  [replies, questions, events, ringing, time] = [[], [], [], [], noon];
});

function watch(changes: Partial<WatcherOptions> = {}): Watcher {
  const told = (event: string) => (detail?: { readonly revision?: number; readonly code?: string }) => {
    events.push([event, detail?.revision ?? detail?.code ?? ""].join(" ").trim());
  };
  watcher = createWatcher({
    url: "https://policies.example/album.bundle?key=secret",
    ...("pdp" in changes ? {} : { trust, clock: () => time }),
    interval: 1000,
    jitter: 0,
    on: { loaded: told("loaded"), activated: told("activated"), unchanged: told("unchanged"), refused: told("refused"), failed: told("failed") },
    fetch: async (_, init) => {
      questions.push(init);
      const reply = replies.length > 1 ? replies.shift()! : replies[0]!;
      if (reply instanceof Error) throw reply;
      return typeof reply === "function" ? reply(init) : reply.clone();
    },
    timers: {
      setTimeout: (callback, after) => {
        const timer = { callback, after, unref: vi.fn() };
        ringing.push(timer);
        return timer;
      },
      clearTimeout: (timer) => void (ringing = ringing.filter((one) => one !== timer)),
    },
    ...changes,
  } as WatcherOptions);
  return watcher;
}

/** Everything that can happen by itself has happened. */
async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
}

/** The timer of the next question rings. */
async function ring(...answers: Reply[]): Promise<void> {
  replies.push(...answers);
  if (replies.length > answers.length) replies.shift();
  expect(ringing).toHaveLength(1);
  ringing.pop()!.callback();
  await settled();
}

function bundle(body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, headers: Record<string, string> = {}): Response {
  return new Response(body, { headers });
}

const unchanged = (): Response => new Response(null, { status: 304 });
const conditions = (): object[] => questions.map(({ headers }) => headers);
const revision = (): number | undefined => watcher.pdp?.header.revision;
const first = (headers?: Record<string, string>): Response => bundle(signed as Uint8Array<ArrayBuffer>, headers);

describe("a watcher", () => {
  it("opens the first bundle", async () => {
    replies = [first()];
    const pdp = await watch().ready;
    await settled();
    expect([pdp.isAllowed(viewing()), pdp, events]).toEqual([true, watcher.pdp, ["loaded 7", "activated 7"]]);
    expect(questions[0]).toMatchObject({ headers: {}, cache: "no-store" });
    expect(ringing.map(({ after, unref }) => [after, vi.mocked(unref).mock.calls.length])).toEqual([[1000, 1]]);
  });

  it("takes a new bundle into use, in the PDP that everybody has", async () => {
    replies = [first()];
    const pdp = await watch().ready;
    await settled();
    await ring(bundle(next));
    expect([pdp.isAllowed(viewing()), revision()]).toEqual([false, 8]);
    expect(events).toEqual(["loaded 7", "activated 7", "loaded 8", "activated 8"]);
  });

  it("works on a PDP that is open already, with what that one trusts", async () => {
    const pdp = await open(signed, { trust, clock: () => noon });
    replies = [bundle(old)];
    expect(await watch({ pdp }).ready).toBe(pdp);
    await settled();
    expect([events, revision()]).toEqual([["refused old-revision"], 7]);
    await ring(bundle(album as Uint8Array<ArrayBuffer>));
    await ring(bundle(next));
    expect(events.slice(1)).toEqual(["refused not-signed", "loaded 8", "activated 8"]);
  });

  it("asks on demand only, where there is no interval", async () => {
    replies = [first()];
    watch({ interval: 0 });
    await settled();
    expect([questions, ringing]).toEqual([[], []]);
    expect(await watcher.refresh()).toMatchObject({ kind: "activated", header: { revision: 7 } });
    expect(await watcher.refresh()).toEqual({ kind: "unchanged" });
    expect(ringing).toEqual([]);
  });

  it("asks one question at a time", async () => {
    let answer: (response: Response) => void = () => {};
    replies = [() => new Promise((resolve) => (answer = resolve))];
    const asked = [watch().refresh(), watcher.refresh()];
    await settled();
    asked.push(watcher.refresh());
    expect(questions).toHaveLength(1);
    answer(first());
    const [outcome, ...others] = await Promise.all(asked);
    expect(others).toEqual([outcome, outcome]);
    expect(events).toEqual(["loaded 7", "activated 7"]);
  });
});

describe("what the server is told", () => {
  it("is the tag of the last good bundle, without asking for the same again", async () => {
    replies = [first({ etag: '"7"', "last-modified": "Mon, 06 May 2024 10:00:00 GMT" })];
    await watch().ready;
    await settled();
    await ring(unchanged());
    await ring(bundle(old, { etag: '"6"' }));
    await ring(bundle(next, { etag: 'W/"8"' }));
    await ring(unchanged());
    const seven = { "if-none-match": '"7"' };
    expect(conditions()).toEqual([{}, seven, seven, seven, { "if-none-match": 'W/"8"' }]);
    expect(events.slice(2)).toEqual(["unchanged", "refused old-revision", "loaded 8", "activated 8", "unchanged"]);
  });

  it("is the date where there is no tag, unless the same second may bring more", async () => {
    const dated = (modified: string, date?: string): Response =>
      first({ "last-modified": `Mon, 06 May 2024 ${modified} GMT`, ...(date && { date: `Mon, 06 May 2024 ${date} GMT` }) });
    replies = [dated("10:00:00", "10:00:01")];
    await watch().ready;
    await settled();
    await ring(dated("10:00:05", "10:00:05"));
    await ring(dated("10:00:05"));
    await ring(unchanged());
    expect(conditions()).toEqual([{}, { "if-modified-since": "Mon, 06 May 2024 10:00:00 GMT" }, {}, {}]);
    expect(events.slice(2)).toEqual(["unchanged", "unchanged", "failed not-fetched"]);
  });

  it("is a new tag for the same bytes, which are no new bundle", async () => {
    replies = [first({ etag: '"a"' })];
    const pdp = await watch().ready;
    const reloads = vi.spyOn(pdp, "reload");
    await settled();
    await ring(first({ etag: '"b"' }));
    await ring(unchanged());
    expect([conditions()[2], reloads.mock.calls.length]).toEqual([{ "if-none-match": '"b"' }, 0]);
  });

  it("is what the host says, which may change", async () => {
    let token = 0;
    replies = [first({ etag: '"7"' })];
    await watch({ headers: async () => ({ authorization: `Bearer ${(token += 1)}` }) }).ready;
    await settled();
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
    ["refused not-signed", bundle(album as Uint8Array<ArrayBuffer>)],
    ["failed not-fetched", () => { throw new TypeError("no such header"); }],
    ["failed", (() => "text") as never],
  ];

  it.each(cases)("is %s, and the last good bundle stays", async (event, reply) => {
    replies = [first()];
    await watch().ready;
    await settled();
    await ring(reply);
    expect([events.slice(2), revision(), watcher.pdp!.isAllowed(viewing())]).toEqual([[event], 7, true]);
    await ring(bundle(next));
    expect(revision()).toBe(8);
  });

  it.each(cases)("is %s, also as the first one", async (event, reply) => {
    replies = [reply];
    watch();
    await settled();
    expect([events, watcher.pdp]).toEqual([[event], undefined]);
    await ring(first());
    expect((await watcher.ready).header.revision).toBe(7);
  });

  it("is a delta where nothing is in use", async () => {
    replies = [bundle(delta)];
    watch();
    await settled();
    expect([events, questions.length]).toEqual([["refused delta"], 1]);
  });

  it("is refused when it does not end, and is read no further", async () => {
    replies = [() => bundle(endless())];
    watch({ maxBytes: 10_000 });
    await settled();
    expect(events.sort()).toEqual(["cancelled", "refused too-large"]);
  });

  it("is given up when it takes too long, and is not used when it comes after all", async () => {
    let answer: (response: Response) => void = () => {};
    replies = [() => new Promise((resolve) => (answer = resolve))];
    watch({ timeout: 500 });
    await settled();
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

  it("is a 304 that nobody can have meant", async () => {
    replies = [unchanged()];
    watch();
    await settled();
    expect(events).toEqual(["failed not-fetched"]);
  });

  it("makes the next question later each time, until one is good", async () => {
    replies = [first()];
    await watch({ maxInterval: 5000 }).ready;
    await settled();
    const waits: number[] = [];
    for (const reply of [new Error(), bundle(old), new Error(), new Error(), unchanged(), first(), new Error()]) {
      await ring(reply);
      waits.push(ringing[0]!.after);
    }
    expect(waits).toEqual([2000, 4000, 5000, 5000, 5000, 1000, 2000]);
  });

  it("may say when to come again", async () => {
    replies = [new Response("busy", { status: 503, headers: { "retry-after": "7" } })];
    watch();
    await settled();
    expect(ringing[0]!.after).toBe(7000);
  });

  it("names the address without its secrets", async () => {
    replies = [new Response("no", { status: 403 })];
    const outcome = (await watch({ interval: 0 }).refresh()) as Outcome & { readonly error: Error };
    expect(outcome.error.message).toContain("https://policies.example/album.bundle");
    expect(outcome.error.message).not.toContain("secret");
  });
});

describe("a switch by hand", () => {
  it("happens when the host says so", async () => {
    replies = [first({ etag: '"7"' })];
    watch({ activateOnLoad: false });
    await settled();
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
    replies = [first()];
    watch({ activateOnLoad: false });
    await settled();
    await ring(bundle(next));
    watcher.activate();
    expect([revision(), events]).toEqual([8, ["loaded 7", "loaded 8", "activated 8"]]);
  });

  it.each([undefined, "pdp"])("verifies again, and lets the server send it again (%s)", async (given) => {
    const pdp = given && (await open(signed, { trust, clock: () => time }));
    replies = [first({ etag: '"7"' })];
    watch({ activateOnLoad: false, ...(pdp && { pdp }) });
    await settled();
    time = Date.UTC(2025, 0);
    expect(() => watcher.activate()).toThrow(expect.objectContaining({ code: "expired" }) as Error);
    expect([watcher.waiting, watcher.activate()]).toEqual([undefined, false]);
    await ring(bundle(next));
    expect([conditions()[1], events]).toEqual([{}, ["loaded 7", "refused expired", "loaded 8"]]);
  });

  it("may be left to a function, which is asked about good bundles only", async () => {
    const asked: number[] = [];
    const answers: unknown[] = [true, false, "yes", Promise.resolve(true), Promise.resolve(undefined)];
    const activate = ({ revision }: { readonly revision: number }): boolean => (asked.push(revision), answers.shift() as boolean);
    const bundles = [next, first, next, first, next];
    for (const expected of ["activated", "loaded", "loaded", "activated", "loaded"]) {
      const pdp = await open(old, { trust, clock: () => noon });
      const one = bundles.shift()!;
      replies = [one === first ? first() : bundle(next)];
      expect(await watch({ pdp, activate, interval: 0 }).refresh()).toMatchObject({ kind: expected });
      replies = [bundle(next.slice(1))];
      await watcher.refresh();
    }
    expect(asked).toEqual([8, 7, 8, 7, 8]);
  });

  it("does not happen when that function fails or never answers, and it is asked again", async () => {
    replies = [first({ etag: '"7"' })];
    const answers = [() => { throw new Error("no"); }, () => Promise.reject(new Error("no")), () => new Promise(() => {}), () => true];
    watch({ activate: () => answers.shift()!() as boolean });
    await settled();
    await ring(first());
    await ring(first());
    expect(ringing.map(({ after }) => after)).toEqual([30_000]);
    await ring(first());
    expect([events, watcher.pdp, watcher.waiting]).toEqual([["loaded 7", "failed", "loaded 7", "failed", "loaded 7", "failed not-fetched"], undefined, undefined]);
    await ring(first());
    expect(revision()).toBe(7);
  });
});

describe("a delta", () => {
  it("is applied to the bundle in use", async () => {
    replies = [first({ etag: '"7"' })];
    await watch().ready;
    await settled();
    await ring(bundle(delta, { etag: '"8"' }));
    await ring(unchanged());
    expect([revision(), events.slice(2)]).toEqual([8, ["loaded 8", "activated 8", "unchanged"]]);
    expect(conditions()[2]).toEqual({ "if-none-match": '"8"' });
  });

  it("for another bundle makes the watcher ask for the whole one", async () => {
    replies = [first({ etag: '"7"' })];
    await watch().ready;
    await settled();
    await ring(({ headers }) => (headers["if-none-match"] === undefined ? bundle(next) : bundle(otherDelta)));
    expect([revision(), events.slice(2)]).toEqual([8, ["loaded 8", "activated 8"]]);
    expect(conditions()).toEqual([{}, { "if-none-match": '"7"' }, {}]);
  });

  it("that never fits is refused after one more question", async () => {
    replies = [first()];
    await watch().ready;
    await settled();
    await ring(bundle(otherDelta));
    expect([questions.length, events.slice(2), ringing[0]!.after]).toEqual([3, ["refused wrong-base"], 2000]);
  });

  it("that waits is refused when its base has gone", async () => {
    const pdp = await open(signed, { trust, clock: () => noon });
    replies = [bundle(delta)];
    watch({ pdp, activateOnLoad: false });
    await settled();
    pdp.reload(next);
    expect(() => watcher.activate()).toThrow(expect.objectContaining({ code: "wrong-base" }) as Error);
  });
});

describe("closing", () => {
  const closing = { code: "disposed" as Code, message: "this watcher is closed" };

  it("ends everything but the PDP", async () => {
    replies = [first()];
    const pdp = await watch().ready;
    await settled();
    watcher.close();
    watcher[Symbol.dispose]();
    expect([ringing, pdp.isAllowed(viewing())]).toEqual([[], true]);
    await expect(watcher.refresh()).rejects.toMatchObject(closing);
    expect(() => watcher.activate()).toThrow(WardgateError);
    expect(events).toEqual(["loaded 7", "activated 7"]);
  });

  it("ends a question that is under way", async () => {
    replies = [() => new Promise(() => {})];
    watch();
    await settled();
    const asked = watcher.refresh();
    watcher.close();
    await expect(asked).rejects.toMatchObject(closing);
    await expect(watcher.ready).rejects.toMatchObject(closing);
    expect([questions[0]!.signal.aborted, ringing, events]).toEqual([true, [], []]);
  });

  it("ends what arrives at that moment", async () => {
    replies = [async () => (watcher.close(), first())];
    watch();
    await settled();
    expect([events, watcher.pdp, ringing]).toEqual([[], undefined, []]);
  });

  it("may happen in a listener, and is the last that is heard", async () => {
    for (const event of ["loaded", "activated", "unchanged", "failed"]) {
      replies = [event === "failed" ? new Error() : first()];
      const heard: string[] = [];
      const close = (name: string) => () => (heard.push(name), name === event && watcher.close());
      const on = { loaded: close("loaded"), activated: close("activated"), unchanged: close("unchanged"), failed: close("failed") };
      watch({ on });
      await settled();
      if (event === "unchanged") await ring(first());
      expect([heard.at(-1), ringing, event === "loaded" ? watcher.pdp : undefined]).toEqual([event, [], undefined]);
    }
  });

  it("frees a bundle that was never taken", async () => {
    replies = [first()];
    watch({ activateOnLoad: false });
    await settled();
    watcher.close();
    expect([watcher.waiting, watcher.pdp]).toEqual([undefined, undefined]);
  });

  it("follows a signal", async () => {
    const controller = new AbortController();
    replies = [() => new Promise(() => {})];
    watch({ signal: controller.signal });
    await settled();
    controller.abort(new Error("shutdown"));
    await expect(watcher.ready).rejects.toThrow("shutdown");
    await expect(watcher.refresh()).rejects.toMatchObject(closing);
    await expect(watch({ signal: AbortSignal.abort() }).ready).rejects.toMatchObject({ name: "AbortError" });
    expect(questions).toHaveLength(1);
  });

  it("follows the end of the PDP", async () => {
    replies = [first()];
    const pdp = await watch().ready;
    await settled();
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
    replies = [first()];
    watch({ on: new Listener() });
    await settled();
    expect([revision(), reported]).toEqual([7, ["Listener", "later"]]);
    vi.unstubAllGlobals();
  });

  it("may ask again on the way, and get the outcome of this question", async () => {
    replies = [first()];
    const outcomes: Promise<Outcome>[] = [];
    watch({ headers: () => (outcomes.push(watcher.refresh()), {}) });
    await settled();
    expect([questions.length, await outcomes[0]]).toMatchObject([1, { kind: "activated" }]);
  });

  it("may take the bundle that waits in the very moment", async () => {
    replies = [first()];
    const on = { loaded: () => watcher.activate(), activated: () => void events.push("activated") };
    expect(await watch({ on, activateOnLoad: false, interval: 0 }).refresh()).toMatchObject({ kind: "activated" });
    expect(events).toEqual(["activated"]);
  });

  it("may be missing headers, which is a failure", async () => {
    watch({ headers: () => Promise.reject(new Error("no token")) });
    await settled();
    expect([events, questions]).toEqual([["failed"], []]);
  });

  it("may have a clock that is broken", async () => {
    replies = [first()];
    watch({ clock: () => { throw new Error("no time"); } } as Partial<WatcherOptions>);
    await settled();
    expect([events, ringing[0]!.after]).toEqual([["failed"], 2000]);
  });
});

describe("two watchers", () => {
  it("of one PDP leave it with the newest bundle", async () => {
    const pdp = await open(old, { trust, clock: () => noon });
    const ask = async (reply: Response): Promise<string> => {
      replies = [reply];
      const outcome = await watch({ pdp, interval: 0 }).refresh();
      return outcome.kind === "refused" ? outcome.error.code : outcome.kind;
    };
    expect([await ask(bundle(next)), await ask(first()), await ask(bundle(next))]).toEqual(["activated", "old-revision", "activated"]);
    expect(pdp.header.revision).toBe(8);
  });

  it("may be at it at the same time", async () => {
    const pdp = await open(old, { trust, clock: () => noon });
    replies = [first()];
    const one = watch({ pdp, interval: 0 });
    const other = watch({ pdp, interval: 0 });
    const outcomes = await Promise.all([one.refresh(), other.refresh()]);
    expect([outcomes.map(({ kind }) => kind), pdp.header.revision]).toEqual([["activated", "activated"], 7]);
  });
});
