// Reads the options of a watcher.

import { describe, membersOf } from "../base/describe.ts";
import { expected } from "../base/nearest.ts";
import type { WardgateError } from "../base/errors.ts";
import type { BundleHeader } from "../pdp/header.ts";
import { readOptions, type OpenOptions } from "../pdp/options.ts";
import type { Pdp } from "../pdp/types.ts";
import type { Address, FetchResponse } from "../base/web.ts";

/**
 * The events of a watcher. An exception of a listener is reported like one in an event listener.
 */
export interface WatcherListener {
  /** A good bundle has arrived. It is put into use at once, or waits for `activate`. */
  loaded?(header: BundleHeader): unknown;
  /** A bundle was put into use. */
  activated?(header: BundleHeader): unknown;
  /**
   * The bundle in use expires soon: less than a day is left, or less than a tenth of its lifetime.
   * Reported once for a bundle, after a poll.
   */
  expiring?(header: BundleHeader, millisecondsLeft: number): unknown;
  /**
   * The bundle in use has expired. Reported once, after a poll; the PDP denies from the moment of
   * expiry.
   */
  expired?(header: BundleHeader): unknown;
  /** The server has no new bundle. */
  unchanged?(): unknown;
  /**
   * The bundle of the server is refused; the code is the reason. The last good bundle stays in use.
   */
  refused?(error: WardgateError): unknown;
  /** The server sent no bundle, or another error occurred. The last good bundle stays in use. */
  failed?(error: unknown): unknown;
}

/** The options for polling the server. */
export interface Polling {
  /**
   * The address of the bundle, `http:` or `https:`.
   *
   * @example
   *     createWatcher({ url: "https://policies.example/album.bundle", trust });
   */
  readonly url: Address | string;
  /**
   * Milliseconds from one answer to the next poll. Default: 60,000. With 0, only `refresh` polls.
   *
   * @example
   *     createWatcher({ url, trust, interval: 30_000 });
   */
  readonly interval?: number | undefined;
  /**
   * The longest wait after failures, in milliseconds; each failure doubles the wait. Default: 16
   * intervals.
   *
   * @example
   *     createWatcher({ url, trust, maxInterval: 600_000 });
   */
  readonly maxInterval?: number | undefined;
  /**
   * The fraction by which a wait is randomly shorter or longer, from 0 to 1. Default: 0.1.
   *
   * @example
   *     createWatcher({ url, trust, jitter: 0.25 });
   */
  readonly jitter?: number | undefined;
  /**
   * Milliseconds until an answer must have arrived completely. Default: 30,000.
   *
   * @example
   *     createWatcher({ url, trust, timeout: 5_000 });
   */
  readonly timeout?: number | undefined;
  /**
   * Headers for the server, such as `authorization`, or a function that returns them before each
   * poll.
   *
   * @example
   *     const headers = async () => ({ authorization: `Bearer ${await token()}` });
   *     createWatcher({ url, trust, headers });
   */
  readonly headers?: Headers | (() => Headers | Promise<Headers>) | undefined;
  /**
   * True if a good bundle is put into use at once. Default: `true`. With `false` it waits for
   * `watcher.activate()`.
   *
   * @example
   *     createWatcher({ url, trust, activateOnLoad: false });
   */
  readonly activateOnLoad?: boolean | undefined;
  /**
   * Called before a good bundle is put into use. Unless it returns `true`, the bundle waits for
   * `watcher.activate()`.
   *
   * @example
   *     createWatcher({ url, trust, activate: ({ revision }) => revision < 100 });
   */
  readonly activate?: ((header: BundleHeader) => boolean | Promise<boolean>) | undefined;
  /**
   * The listeners for the events of the watcher.
   *
   * @example
   *     createWatcher({ url, trust, on: { activated: ({ revision }) => console.log(revision) } });
   */
  readonly on?: WatcherListener | undefined;
  /**
   * A signal that closes the watcher.
   *
   * @example
   *     createWatcher({ url, trust, signal: controller.signal });
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * A replacement for `fetch`, for tests and for servers that need a special connection.
   *
   * @example
   *     createWatcher({ url, trust, fetch: (url, init) => proxied(url, init) });
   */
  readonly fetch?: Fetch | undefined;
  /** A replacement for the timers of the runtime, for tests. */
  readonly timers?: Timers | undefined;
  /** Returns a random number from 0 up to 1. Default: `Math.random`. */
  readonly random?: (() => number) | undefined;
}

/**
 * The options of `createWatcher`. It opens the first bundle with the options of `open`, or updates
 * a PDP that is already open, whose trusted keys stay.
 */
export type WatcherOptions = Polling & (Opening | PdpOptions);

type Opening = Omit<OpenOptions, "now"> & { readonly pdp?: undefined };

interface PdpOptions extends Pick<OpenOptions, "maxBytes" | "clock"> {
  /** The PDP to keep up to date. */
  readonly pdp: Pdp;
}

type Headers = Readonly<Record<string, string>>;

/** The part of `fetch` that a watcher uses. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  /** The headers of the request. */
  readonly headers: Headers;
  /** The signal that aborts the request. */
  readonly signal: AbortSignal;
  /** The cache mode, on runtimes with a cache. */
  readonly cache?: "no-store";
}

export interface Timers {
  /** Calls `callback` after the given time, and returns a handle. */
  setTimeout(callback: () => void, milliseconds: number): unknown;
  /** Cancels a timer by its handle. */
  clearTimeout(timer: unknown): void;
}

/** The options, checked and complete. */
export interface WatcherSettings {
  readonly url: string;
  readonly interval: number;
  readonly maxInterval: number;
  readonly jitter: number;
  readonly timeout: number;
  readonly headers: () => Headers | Promise<Headers>;
  readonly activate: (header: BundleHeader) => boolean | Promise<boolean>;
  readonly on: WatcherListener;
  readonly signal: AbortSignal | undefined;
  readonly fetch: Fetch;
  readonly timers: Timers;
  readonly random: () => number;
  readonly pdp: Pdp | undefined;
  /** The options for opening the first bundle. */
  readonly opening: OpenOptions;
  readonly maxBytes: number;
  readonly clock: () => number;
}

/** Reads options that come from JavaScript without type checks. */
export function readWatcherOptions(given: unknown): WatcherSettings {
  const members = membersOf(given);
  if (members === undefined) throw new TypeError(`options must be an object with \`url\`, found ${describe(given)}`);
  const of = new Options(members);
  const interval = of.number("interval", 60_000, LONGEST);
  const pdp = of.pdp();
  const opening = of.opening(pdp !== undefined);
  const { maxBytes, clock } = readOptions(opening);
  return {
    url: of.address(),
    interval,
    maxInterval: Math.max(of.number("maxInterval", Math.min(16 * interval, LONGEST), LONGEST), interval),
    jitter: of.number("jitter", 0.1, 1),
    timeout: of.number("timeout", 30_000, LONGEST) || LONGEST,
    headers: of.headers(),
    activate: of.activate(),
    on: of.listener(),
    signal: of.signal(),
    fetch: of.function<Fetch>("fetch") ?? ((url, init) => globalThis.fetch(url, init as RequestInit)),
    timers: of.timers(),
    random: of.function<() => number>("random") ?? Math.random,
    pdp,
    opening,
    maxBytes,
    clock,
  };
}

class Options {
  readonly #members: ReadonlyMap<string, unknown>;

  constructor(members: ReadonlyMap<string, unknown>) {
    this.#members = members;
  }

  /** Returns the options for `open`, which refuses unknown names. */
  opening(hasPdp: boolean): OpenOptions {
    const opening = new Map([...this.#members].filter(([name]) => !OWN.includes(name)));
    if (opening.has("now")) throw new TypeError("a watcher reads the clock: give option `clock` instead of `now`");
    if (!hasPdp) return Object.fromEntries(opening) as unknown as OpenOptions;
    for (const name of opening.keys()) {
      if (name === "maxBytes" || name === "clock") continue;
      throw new TypeError(`option \`${name}\` is not for a watcher with a \`pdp\`, which was opened before`);
    }
    return { ...Object.fromEntries(opening), trust: "unsigned" };
  }

  pdp(): Pdp | undefined {
    const pdp = this.#members.get("pdp");
    if (pdp === undefined) return undefined;
    if (typeof (pdp as Partial<Pdp> | null)?.examine === "function") return pdp as Pdp;
    throw new TypeError(`option \`pdp\` must be a PDP, found ${describe(pdp)}`);
  }

  address(): string {
    const url = this.#members.get("url");
    const text = typeof url === "string" ? url : (url as Partial<Address> | null | undefined)?.href;
    if (typeof text !== "string") throw new TypeError(`option \`url\` must be a URL, found ${describe(url)}`);
    let address;
    try {
      address = new URL(text, globalThis.location?.href);
    } catch {
      throw new RangeError("option `url` must be an absolute address, such as https://example.com/policies.wardgate");
    }
    if (address.protocol === "http:" || address.protocol === "https:") return address.href;
    const advice = address.protocol === "file:" ? "; for a file call `pdp.reload` whenever it has changed" : "";
    throw new RangeError(`option \`url\` must begin with https: or http:, found ${address.protocol}${advice}`);
  }

  number(name: string, otherwise: number, most: number): number {
    const value = this.#members.get(name) ?? otherwise;
    if (typeof value !== "number") throw new TypeError(`option \`${name}\` must be a number, found ${describe(value)}`);
    if (value >= 0 && value <= most) return value;
    throw new RangeError(`option \`${name}\` must be from 0 to ${most}, found ${value}`);
  }

  function<F>(name: string): F | undefined {
    const value = this.#members.get(name);
    if (value === undefined || typeof value === "function") return value as F | undefined;
    throw new TypeError(`option \`${name}\` must be a function, found ${describe(value)}`);
  }

  headers(): WatcherSettings["headers"] {
    const headers = this.#members.get("headers");
    if (typeof headers === "function") return headers as WatcherSettings["headers"];
    if (headers !== undefined && membersOf(headers) === undefined) {
      throw new TypeError(`option \`headers\` must be an object or a function, found ${describe(headers)}`);
    }
    const copy = { ...(headers as Headers | undefined) };
    return () => copy;
  }

  activate(): WatcherSettings["activate"] {
    const isOn = this.#members.get("activateOnLoad") ?? true;
    if (typeof isOn !== "boolean") {
      throw new TypeError(`option \`activateOnLoad\` must be a boolean, found ${describe(isOn)}`);
    }
    const callback = this.function<WatcherSettings["activate"]>("activate");
    return isOn ? (callback ?? (() => true)) : () => false;
  }

  listener(): WatcherListener {
    const on = this.#members.get("on") ?? {};
    const members = membersOf(on);
    if (members === undefined) throw new TypeError(`option \`on\` must be an object, found ${describe(on)}`);
    for (const name of members.keys()) {
      if (!EVENTS.includes(name)) throw new TypeError(`unknown event \`${name}\`${expected(name, EVENTS)}`);
    }
    for (const name of EVENTS) {
      // Inherited handlers count too: a listener may be an instance of a class.
      const handler: unknown = (on as Readonly<Record<string, unknown>>)[name];
      if (handler === undefined || typeof handler === "function") continue;
      throw new TypeError(`\`${name}\` of \`on\` must be a function, found ${describe(handler)}`);
    }
    return on as WatcherListener;
  }

  signal(): AbortSignal | undefined {
    const signal = this.#members.get("signal");
    if (signal === undefined || signal instanceof AbortSignal) return signal;
    throw new TypeError(`option \`signal\` must be an AbortSignal, found ${describe(signal)}`);
  }

  timers(): Timers {
    const timers = this.#members.get("timers") as Partial<Timers> | undefined;
    if (timers === undefined) return RUNTIME;
    if (typeof timers?.setTimeout === "function" && typeof timers.clearTimeout === "function") return timers as Timers;
    throw new TypeError("option `timers` must have `setTimeout` and `clearTimeout`");
  }
}

// Looked up at each call: a page or a test may replace the functions.
const RUNTIME: Timers = {
  setTimeout: (callback, milliseconds) => globalThis.setTimeout(callback, milliseconds),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
};

const EVENTS: readonly string[] = ["loaded", "activated", "expiring", "expired", "unchanged", "refused", "failed"];
const OWN: readonly string[] = [
  ...["url", "interval", "maxInterval", "jitter", "timeout", "headers", "activateOnLoad", "activate"],
  ...["on", "signal", "fetch", "timers", "random", "pdp"],
];
/** The longest time of a timer; longer timers fire at once. */
const LONGEST = 2 ** 31 - 1;
