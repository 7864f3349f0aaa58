// A watcher with a real server, over a local network.

import { createServer, type RequestListener } from "node:http";

import { afterEach, expect, it } from "vitest";

import { addressOf, noon, releaseKey as trust, signed, trustFile } from "../testing.ts";
import { createWatcher, type Watcher } from "./watcher.ts";
import type { WatcherOptions } from "./watcher-options.ts";

let close: (() => void)[] = [];
afterEach(() => {
  for (const one of close) one();
  close = [];
});

async function watch(server: RequestListener, options: Partial<WatcherOptions> = {}): Promise<Watcher> {
  const listening = createServer(server).listen(0, "127.0.0.1");
  const url = `${await addressOf(listening)}/album.bundle`;
  const watcher = createWatcher({ url, trust, clock: () => noon, interval: 0, ...options } as WatcherOptions);
  close.push(() => watcher.close(), () => (listening.close(), listening.closeAllConnections()));
  return watcher;
}

it("polls with the tag of the server", async () => {
  const published = [signed, signed, trustFile("next.bundle")];
  const tags: unknown[] = [];
  const watcher = await watch((request, response) => {
    const bundle = published[0]!;
    const tag = `"${bundle.length}"`;
    tags.push(request.headers["if-none-match"]);
    if (request.headers["if-none-match"] === tag) response.writeHead(304, { etag: tag }).end();
    else response.writeHead(200, { etag: tag }).end(bundle);
  });
  const kinds: string[] = [];
  while (published.length > 0) {
    kinds.push((await watcher.refresh()).kind);
    published.shift();
  }
  expect(kinds).toEqual(["activated", "unchanged", "activated"]);
  expect(tags).toEqual([undefined, `"${signed.length}"`, `"${signed.length}"`]);
  expect((await watcher.ready).header.revision).toBe(8);
});

it("stops reading at the limit", async () => {
  let gone: () => void;
  const isGone = new Promise<void>((resolve) => (gone = resolve));
  const watcher = await watch(
    (_, response) => {
      const more = (): void => void (response.destroyed || response.write(Buffer.alloc(10_000), more));
      response.once("close", gone).writeHead(200);
      more();
    },
    { maxBytes: 100_000 },
  );
  expect(await watcher.refresh()).toMatchObject({ kind: "refused", error: { code: "too-large" } });
  await isGone;
});

it.each(["before it answers", "in the middle"])("aborts if the server stops sending %s", async (when) => {
  const timers: (() => void)[] = [];
  const late = { setTimeout: (callback: () => void) => timers.push(callback), clearTimeout: () => {} };
  let gone: () => void;
  const isGone = new Promise<void>((resolve) => (gone = resolve));
  const watcher = await watch(
    (_, response) => {
      response.once("close", gone);
      if (when === "in the middle") response.write(signed.subarray(0, 1000));
      timers.forEach((ring) => ring());
    },
    { timers: late },
  );
  expect(await watcher.refresh()).toMatchObject({ kind: "failed", error: { code: "not-fetched" } });
  await isGone;
});

it("reports errors without a listener", async () => {
  const watcher = await watch(() => {});
  for (const one of close.splice(1)) one();
  expect(await watcher.refresh()).toMatchObject({ kind: "failed", error: { code: "not-fetched" } });
});
