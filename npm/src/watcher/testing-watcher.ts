// A server for the tests of watchers, with fake timers: time stands still until a test fires a
// timer.

import { beforeAll, beforeEach, expect, vi } from "vitest";

import { load } from "../pdp/open.ts";
import type { Pdp } from "../pdp/types.ts";
import { noon, releaseKey as trust, signed, trustFile } from "../testing.ts";
import type { FetchInit, WatcherOptions } from "./watcher-options.ts";
import { createWatcher, type Watcher } from "./watcher.ts";

// The release key has signed 6, 7 and 8; 7 is valid in 2024. One delta leads from 7 to 8, the other
// from 6 to 8.
export const [next, old] = [trustFile("next.bundle"), trustFile("old.bundle")];
export const [delta, otherDelta] = [trustFile("next.delta"), trustFile("other.delta")];

/** The answers of the server, in their order; the last one is repeated. */
export type Reply = Response | Error | ((init: FetchInit) => Response | Promise<Response>);
let replies: Reply[];
/** The requests to the server. */
export let questions: FetchInit[];
/** The events of the watcher, with a revision or a code. */
export let events: string[];
/** The pending timers. */
export let ringing: { callback: () => void; after: number; unref: () => void }[];
export let time: number;
/** The last watcher. */
export let watcher: Watcher;

beforeAll(() => load());
beforeEach(() => {
  [replies, questions, events, ringing, time] = [[], [], [], [], noon];
});

/** Sets the answers of the server. */
export function serve(...answers: Reply[]): void {
  replies = answers;
}

export function goTo(then: number): void {
  time = then;
}

export function watch(changes: Partial<WatcherOptions> = {}): Watcher {
  const record = (event: string) => (detail?: { readonly revision?: number; readonly code?: string }) => {
    events.push([event, detail?.revision ?? detail?.code ?? ""].join(" ").trim());
  };
  watcher = createWatcher({
    url: "https://policies.example/album.bundle?key=secret",
    ...("pdp" in changes ? {} : { trust, clock: () => time }),
    interval: 1000,
    jitter: 0,
    on: { loaded: record("loaded"), activated: record("activated"), unchanged: record("unchanged"), refused: record("refused"), failed: record("failed") },
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

/** Waits until every pending promise is settled. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await new Promise(setImmediate);
}

/** Starts a watcher whose server answers with `reply`, and waits for its first poll. */
export async function polled(reply: Reply, changes?: Partial<WatcherOptions>): Promise<Watcher> {
  serve(reply);
  watch(changes);
  await settled();
  return watcher;
}

/** Does the same, and returns the PDP of the watcher. */
export async function ready(reply: Reply = first(), changes?: Partial<WatcherOptions>): Promise<Pdp> {
  return (await polled(reply, changes)).ready;
}

/** Fires the timer of the next poll. */
export async function ring(...answers: Reply[]): Promise<void> {
  replies.push(...answers);
  if (replies.length > answers.length) replies.shift();
  expect(ringing).toHaveLength(1);
  ringing.pop()!.callback();
  await settled();
}

export function bundle(body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, headers: Record<string, string> = {}): Response {
  return new Response(body, { headers });
}

export const unchanged = (): Response => new Response(null, { status: 304 });
export const conditions = (): object[] => questions.map(({ headers }) => headers);
export const revision = (): number | undefined => watcher.pdp?.header.revision;
export const first = (headers?: Record<string, string>): Response => bundle(signed, headers);
