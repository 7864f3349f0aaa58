// The options that a watcher refuses.

import { describe, expect, it } from "vitest";

import { openAlbum, releaseKey as trust } from "../testing.ts";
import { createWatcher } from "./watcher.ts";

const pdp = await openAlbum();

describe("options", () => {
  const check = (options: object | undefined, error: TypeErrorConstructor | RangeErrorConstructor, message: string): void => {
    expect(() => createWatcher(options as never)).toThrow(new error(message));
  };

  it("are checked before the first poll", () => {
    const url = "https://policies.example/album.bundle";
    check(undefined, TypeError, "options must be an object with `url`, found undefined");
    check({ trust }, TypeError, "option `url` must be a URL, found undefined");
    check({ trust, url: 7 }, TypeError, "option `url` must be a URL, found number");
    check({ trust, url: "album.bundle" }, RangeError, "option `url` must be an absolute address, such as https://example.com/policies.wardgate");
    check({ trust, url: new URL("file:///album.bundle") }, RangeError, "option `url` must begin with https: or http:, found file:; for a file call `pdp.reload` whenever it has changed");
    check({ trust, url: "data:,x" }, RangeError, "option `url` must begin with https: or http:, found data:");
    expect(() => createWatcher({ url } as never)).toThrow("trust");
    expect(() => createWatcher({ url, trust, intervall: 5 } as never)).toThrow("unknown option `intervall`");
    check({ url, trust, now: 5 }, TypeError, "a watcher reads the clock: give option `clock` instead of `now`");
    check({ url, trust, pdp }, TypeError, "option `trust` is not for a watcher with a `pdp`, which was opened before");
    check({ url, pdp: {} }, TypeError, "option `pdp` must be a PDP, found object");
    check({ url, pdp, interval: "5" }, TypeError, "option `interval` must be a number, found string");
    check({ url, pdp, interval: -1 }, RangeError, "option `interval` must be from 0 to 2147483647, found -1");
    check({ url, pdp, timeout: Number.NaN }, RangeError, "option `timeout` must be from 0 to 2147483647, found NaN");
    check({ url, pdp, jitter: 1.5 }, RangeError, "option `jitter` must be from 0 to 1, found 1.5");
    check({ url, pdp, headers: "x" }, TypeError, "option `headers` must be an object or a function, found string");
    check({ url, pdp, activateOnLoad: 0 }, TypeError, "option `activateOnLoad` must be a boolean, found number");
    check({ url, pdp, activate: true }, TypeError, "option `activate` must be a function, found boolean");
    check({ url, pdp, on: () => {} }, TypeError, "option `on` must be an object, found function");
    check({ url, pdp, on: { reload: () => {} } }, TypeError, "unknown event `reload`, expected one of loaded, activated, expiring, expired, unchanged, refused, failed");
    check({ url, pdp, on: { failed: "log" } }, TypeError, "`failed` of `on` must be a function, found string");
    check({ url, pdp, signal: {} }, TypeError, "option `signal` must be an AbortSignal, found object");
    check({ url, pdp, fetch: url }, TypeError, "option `fetch` must be a function, found string");
    check({ url, pdp, timers: {} }, TypeError, "option `timers` must have `setTimeout` and `clearTimeout`");
  });
});
