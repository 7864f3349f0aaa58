// Reads the options of a watcher.

import { describe, membersOf } from "../base/describe.ts";
import type { WardgateError } from "../base/errors.ts";
import type { BundleHeader } from "../pdp/header.ts";
import { readOptions, type OpenOptions } from "../pdp/options.ts";
import type { Pdp } from "../pdp/types.ts";
import type { Address, FetchResponse } from "../base/web.ts";

/** What happens to a watcher. What a listener throws is reported like an exception in an event listener. */
export interface WatcherListener {
  /** A bundle has arrived and is good. It is taken into use at once, or waits for `activate`. */
  loaded?(header: BundleHeader): unknown;
  /** A bundle was taken into use. */
  activated?(header: BundleHeader): unknown;
  /**
   * The bundle in use expires soon: less than a day is left, or less than a tenth of its time. It is told once for a
   * bundle, after a question to the server.
   */
  expiring?(header: BundleHeader, millisecondsLeft: number): unknown;
  /** The bundle in use has expired. Told once, after a question to the server; the PDP denies from the moment itself. */
  expired?(header: BundleHeader): unknown;
  /** The server has nothing new. */
  unchanged?(): unknown;
  /** What the server sent is not accepted: the code says why. The last good bundle stays in use. */
  refused?(error: WardgateError): unknown;
  /** The server sent nothing, or something else went wrong. The last good bundle stays in use. */
  failed?(error: unknown): unknown;
}

/** How a watcher asks its server. */
export interface Polling {
  /** Where the bundle is: an address of `http:` or `https:`. */
  readonly url: Address | string;
  /** Milliseconds from one answer to the next question, 60,000 unless given; 0 asks only on `refresh`. */
  readonly interval?: number | undefined;
  /** The most milliseconds to wait after failures, each of which doubles the wait: 16 intervals unless given. */
  readonly maxInterval?: number | undefined;
  /** By which part of itself a wait may be shorter or longer, from 0 to 1: 0.1 unless given. */
  readonly jitter?: number | undefined;
  /** Milliseconds until an answer must have arrived completely: 30,000 unless given. */
  readonly timeout?: number | undefined;
  /** Headers for the server, such as `authorization`, or what finds them before each question. */
  readonly headers?: Headers | (() => Headers | Promise<Headers>) | undefined;
  /** Whether a good bundle is taken into use without being asked to: `true` unless given. */
  readonly activateOnLoad?: boolean | undefined;
  /** Asked before a good bundle is taken into use; where the answer is not `true`, it waits for `activate`. */
  readonly activate?: ((header: BundleHeader) => boolean | Promise<boolean>) | undefined;
  readonly on?: WatcherListener | undefined;
  /** Closes the watcher when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** What stands in for the runtime in tests, and for `fetch` where the way to a server is a special one. */
  readonly fetch?: Fetch | undefined;
  readonly timers?: Timers | undefined;
  /** Returns a number from 0 to 1, and less than 1. */
  readonly random?: (() => number) | undefined;
}

/**
 * What a watcher is told. It opens the first bundle by the options of `open`, or is handed a PDP that is open
 * already, which then knows whom it trusts.
 */
export type WatcherOptions = Polling & (Opening | PdpOptions);

type Opening = Omit<OpenOptions, "now"> & { readonly pdp?: undefined };

interface PdpOptions extends Pick<OpenOptions, "maxBytes" | "clock"> {
  readonly pdp: Pdp;
}

type Headers = Readonly<Record<string, string>>;

/** As much of `fetch` as a watcher uses. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  readonly headers: Headers;
  readonly signal: AbortSignal;
  readonly cache?: "no-store";
}

export interface Timers {
  setTimeout(callback: () => void, milliseconds: number): unknown;
  clearTimeout(timer: unknown): void;
}

/** The options, complete. */
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
  /** What the first bundle is opened by. */
  readonly opening: OpenOptions;
  readonly maxBytes: number;
  readonly clock: () => number;
}

/** Reads options that may come from JavaScript. */
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

  /** The options that are for `open`; those that it does not know it refuses by name. */
  opening(hasPdp: boolean): OpenOptions {
    const opening = new Map([...this.#members].filter(([name]) => !OWN.includes(name)));
    if (opening.has("now")) throw new TypeError("a watcher looks at the clock: give option `clock` instead of `now`");
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
      throw new RangeError("option `url` must be a whole address");
    }
    if (address.protocol === "http:" || address.protocol === "https:") return address.href;
    throw new RangeError(`option \`url\` must begin with https: or http:, found ${address.protocol}`);
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
      if (!EVENTS.includes(name)) throw new TypeError(`unknown event \`${name}\`, expected one of ${EVENTS.join(", ")}`);
    }
    for (const name of EVENTS) {
      // Also those that it inherits: a listener may be an instance of a class.
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

// Looked up at each call: a page or a test may put others in their place.
const RUNTIME: Timers = {
  setTimeout: (callback, milliseconds) => globalThis.setTimeout(callback, milliseconds),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as number),
};

const EVENTS: readonly string[] = ["loaded", "activated", "expiring", "expired", "unchanged", "refused", "failed"];
const OWN: readonly string[] = [
  ...["url", "interval", "maxInterval", "jitter", "timeout", "headers", "activateOnLoad", "activate"],
  ...["on", "signal", "fetch", "timers", "random", "pdp"],
];
/** What timers can count to; above it they fire at once. */
const LONGEST = 2 ** 31 - 1;
