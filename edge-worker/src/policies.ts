// The policies in use. A bundle is verified before it replaces another, atomically for all
// requests. If it is refused or unreadable, the one in use stays; without one, the last good bundle
// is loaded.

import { expiryOf, open, WardgateError, type BundleHeader, type OpenOptions, type Pdp } from "wardgate";

import type { LastGood } from "./last-good.ts";
import type { Source } from "./source.ts";
import { isSame } from "./text.ts";

/** No bundle has been opened yet, so no request can be decided. */
export class NotReady extends Error {}

/** The state of the policies for operators. */
export interface Health {
  readonly status: "ok" | "stale" | "expired" | "not-ready";
  readonly revision?: number;
  readonly name?: string;
  /** Seconds since the bundle was put into use here, and since the last poll for a newer one. */
  readonly age?: number;
  readonly checked?: number;
  /**
   * The problem of the last poll: the code of a refusal, `limits` for a bundle with rate limits without the
   * binding for them, `missing` or `unreadable`.
   */
  readonly problem?: string;
  /**
   * Seconds until the bundle expires, negative afterwards; absent for a bundle that never expires.
   */
  readonly expiresIn?: number;
}

export interface PolicySettings {
  readonly source: Source;
  readonly lastGood: LastGood;
  readonly opening: OpenOptions;
  readonly refreshMilliseconds: number;
  /** Returns the time in milliseconds since 1970 for the expiry of bundles. Default: `Date.now`. */
  readonly clock?: () => number;
}

interface InUse {
  readonly pdp: Pdp;
  readonly bytes: Uint8Array;
  readonly etag: string | undefined;
  readonly since: number;
}

export class Policies {
  readonly #settings: PolicySettings;
  #inUse: InUse | undefined;
  #checked: number | undefined;
  #problem: string | undefined;
  #poll: Poll | undefined;
  /** The last bundle that was logged, and the last that was given to `lastGood`. */
  #logged: Uint8Array | undefined;
  #stored: Uint8Array | undefined;
  /** The last logged state of expiry, and its bundle. */
  #loggedExpiry: { readonly header: BundleHeader; readonly kind: string } | undefined;

  constructor(settings: PolicySettings) {
    this.#settings = settings;
  }

  /** Starts the poll for the first bundle, which then arrives while a request is read. */
  awaken(context: Pick<ExecutionContext, "waitUntil">): void {
    if (this.#inUse === undefined) this.#pollIfDue(context);
  }

  /**
   * Returns the PDP in use. Only the first request waits for a bundle; later polls run after a
   * response.
   */
  async pdp(context: Pick<ExecutionContext, "waitUntil">): Promise<Pdp> {
    const poll = this.#pollIfDue(context);
    if (this.#inUse === undefined && poll !== undefined) await Promise.race([poll.done, pause(PATIENCE)]);
    if (this.#inUse === undefined) throw new NotReady(this.#problem ?? "no bundle has arrived yet");
    this.#logExpiry(this.#inUse.pdp.header);
    return this.#inUse.pdp;
  }

  /** The revision in use; `undefined` if there is none. */
  get revision(): number | undefined {
    return this.#inUse?.pdp.header.revision;
  }

  health(): Health {
    const ago = (time: number): number => Math.round((Date.now() - time) / 1000);
    const problem = this.#problem === undefined ? {} : { problem: this.#problem };
    const checked = this.#checked === undefined ? {} : { checked: ago(this.#checked) };
    if (this.#inUse === undefined) return { status: "not-ready", ...checked, ...problem };
    this.#logExpiry(this.#inUse.pdp.header);
    const { revision, name, expires } = this.#inUse.pdp.header;
    const expiresIn = expires === undefined ? {} : { expiresIn: Math.floor((expires - this.#now()) / 1000) };
    const status = this.#denies() ? "expired" : this.#problem === undefined ? "ok" : "stale";
    return { status, revision, ...(name !== undefined && { name }), age: ago(this.#inUse.since), ...checked, ...problem, ...expiresIn };
  }

  /** Returns true if the bundle in use has expired, so that it denies everything. */
  #denies(): boolean {
    const header = this.#inUse?.pdp.header;
    if (header === undefined || this.#settings.opening.afterExpiry === "decide") return false;
    return expiryOf(header, this.#now()).kind === "expired";
  }

  /** Logs once that a bundle expires soon, and once that it has expired. */
  #logExpiry(header: BundleHeader): void {
    const { kind } = expiryOf(header, this.#now());
    if (this.#loggedExpiry?.header === header && this.#loggedExpiry.kind === kind) return;
    this.#loggedExpiry = { header, kind };
    if (kind !== "soon" && kind !== "expired") return;
    const { revision, expires = 0 } = header;
    const event = kind === "soon" ? "expires-soon" : "expired";
    console.warn(JSON.stringify({ event, revision, expires: new Date(expires).toISOString() }));
  }

  #now(): number {
    return (this.#settings.clock ?? Date.now)();
  }

  #pollIfDue(context: Pick<ExecutionContext, "waitUntil">): Poll | undefined {
    const poll = this.#current() ?? this.#begin();
    // A poll must outlive a cancelled request: other requests wait for it.
    if (poll !== undefined) context.waitUntil(poll.settled);
    return poll;
  }

  /**
   * Returns the poll in progress. The runtime silently ends work that runs too long; such a poll
   * does not count.
   */
  #current(): Poll | undefined {
    const poll = this.#poll;
    return poll !== undefined && Date.now() - poll.since < GIVEN_UP ? poll : undefined;
  }

  #begin(): Poll | undefined {
    const now = Date.now();
    const { refreshMilliseconds } = this.#settings;
    const between = this.#inUse === undefined ? Math.min(refreshMilliseconds, RETRY) : refreshMilliseconds;
    if (this.#checked !== undefined && now - this.#checked < between) return undefined;
    const done = this.#fetch();
    const poll = { since: now, done, settled: done.then(() => this.#settle()) };
    this.#poll = poll;
    void done.then(() => {
      if (this.#poll === poll) this.#poll = undefined;
    });
    return poll;
  }

  /** Polls for a bundle once. It never fails: an error becomes the problem in `health`. */
  async #fetch(): Promise<void> {
    try {
      const fetched = await this.#settings.source(this.#inUse?.etag);
      if (fetched.kind === "missing") throw new Missing("there is no bundle");
      if (fetched.kind === "bundle") await this.#use(fetched.bytes, fetched.etag);
      this.#problem = undefined;
    } catch (thrown) {
      this.#problem = problemOf(thrown);
      console.error(JSON.stringify({ event: "bundle", problem: this.#problem, message: String(thrown) }));
      if (this.#inUse === undefined) await this.#useLastGood();
    }
    this.#checked = Date.now();
  }

  async #useLastGood(): Promise<void> {
    try {
      const bytes = await this.#settings.lastGood.read();
      if (bytes !== undefined) await this.#use(bytes, undefined);
      this.#stored = bytes;
    } catch (thrown) {
      console.error(JSON.stringify({ event: "last-good", problem: problemOf(thrown), message: String(thrown) }));
    }
  }

  /**
   * Does work for which no response has to wait: it logs a new bundle, and stores it for other
   * instances. For the first response of an instance these two were more work than the decision.
   */
  async #settle(): Promise<void> {
    if (this.#inUse === undefined || this.#inUse.bytes === this.#logged) return;
    await pause(BEHIND_THE_ANSWER);
    const { bytes, pdp } = this.#inUse;
    if (bytes === this.#logged) return;
    this.#logged = bytes;
    const { revision, content } = pdp.header;
    console.log(JSON.stringify({ event: "bundle", revision, content }));
    if (bytes === this.#stored) return;
    this.#stored = bytes;
    await this.#settings.lastGood.write(bytes).catch((thrown: unknown) => console.error(String(thrown)));
  }

  async #use(bytes: Uint8Array, etag: string | undefined): Promise<void> {
    const before = this.#inUse;
    if (before !== undefined && isSame(before.bytes, bytes)) {
      this.#inUse = { ...before, etag };
      return;
    }
    const pdp = before?.pdp ?? (await open(bytes, this.#settings.opening));
    if (before !== undefined) pdp.reload(bytes);
    this.#inUse = { pdp, bytes, etag, since: Date.now() };
  }
}

/** A poll for a bundle: `done` when it is in use, `settled` when the work after it is done. */
interface Poll {
  readonly since: number;
  readonly done: Promise<void>;
  readonly settled: Promise<void>;
}

class Missing extends Error {}

function problemOf(thrown: unknown): string {
  // The code of the module is that of all tables which cannot be used, and the operator must find this one.
  if (thrown instanceof WardgateError) return / rate limits, which this host/.test(thrown.message) ? "limits" : thrown.code;
  return thrown instanceof Missing ? "missing" : "unreadable";
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The longest wait of the first requests for a bundle, in milliseconds. */
const PATIENCE = 10_000;
/** The milliseconds for sending a response that has waited for a bundle. */
const BEHIND_THE_ANSWER = 100;
/** The milliseconds until the next poll after a failure, if there is no bundle yet. */
const RETRY = 1000;
const GIVEN_UP = 30_000;
