// The policies in use. A bundle is verified before it replaces another, at once for all requests; when it is
// refused or cannot be read, the one in use stays; where there is none yet, the last good one is looked for.

import { expiryOf, open, WardgateError, type BundleHeader, type OpenOptions, type Pdp } from "wardgate";

import type { LastGood } from "./last-good.ts";
import type { Source } from "./source.ts";
import { isSame } from "./text.ts";

/** No bundle could be opened yet, so nothing can be decided. */
export class NotReady extends Error {}

/** What is to be known of the policies from outside. */
export interface Health {
  readonly status: "ok" | "stale" | "expired" | "not-ready";
  readonly revision?: number;
  readonly name?: string;
  /** Seconds since the bundle in use was taken into use here, and since the last look for a newer one. */
  readonly age?: number;
  readonly checked?: number;
  /** Why the last look brought nothing: the code of a refusal, `missing` or `unreadable`. */
  readonly problem?: string;
  /** Seconds until everything is denied, or was, below 0; nothing for a bundle that never expires. */
  readonly expiresIn?: number;
}

export interface Refreshing {
  readonly source: Source;
  readonly lastGood: LastGood;
  readonly opening: OpenOptions;
  readonly refreshMilliseconds: number;
  /** Returns the time in milliseconds since 1970 by which bundles expire; `Date.now` unless given. */
  readonly clock?: () => number;
}

interface InUse {
  readonly pdp: Pdp;
  readonly bytes: Uint8Array;
  readonly etag: string | undefined;
  readonly since: number;
}

export class Policies {
  readonly #settings: Refreshing;
  #inUse: InUse | undefined;
  #checked: number | undefined;
  #problem: string | undefined;
  #looking: Looking | undefined;
  /** What was told of in the log, and what was handed to `lastGood`. */
  #told: Uint8Array | undefined;
  #kept: Uint8Array | undefined;
  /** What was told of expiry: of which bundle, and how it stood. */
  #toldExpiry: { readonly header: BundleHeader; readonly kind: string } | undefined;

  constructor(settings: Refreshing) {
    this.#settings = settings;
  }

  /** Begins to look for the first bundle, which then arrives while a request is read. */
  awaken(context: Pick<ExecutionContext, "waitUntil">): void {
    if (this.#inUse === undefined) this.#lookIfDue(context);
  }

  /** The PDP in use. Only the first request waits for a bundle; a later look goes on behind an answer. */
  async pdp(context: Pick<ExecutionContext, "waitUntil">): Promise<Pdp> {
    const looking = this.#lookIfDue(context);
    if (this.#inUse === undefined && looking !== undefined) await Promise.race([looking.done, pause(PATIENCE)]);
    if (this.#inUse === undefined) throw new NotReady(this.#problem ?? "no bundle has arrived yet");
    this.#tellExpiry(this.#inUse.pdp.header);
    return this.#inUse.pdp;
  }

  /** The revision in use; nothing if there is none. */
  get revision(): number | undefined {
    return this.#inUse?.pdp.header.revision;
  }

  health(): Health {
    const ago = (time: number): number => Math.round((Date.now() - time) / 1000);
    const problem = this.#problem === undefined ? {} : { problem: this.#problem };
    const checked = this.#checked === undefined ? {} : { checked: ago(this.#checked) };
    if (this.#inUse === undefined) return { status: "not-ready", ...checked, ...problem };
    this.#tellExpiry(this.#inUse.pdp.header);
    const { revision, name, expires } = this.#inUse.pdp.header;
    const expiresIn = expires === undefined ? {} : { expiresIn: Math.floor((expires - this.#now()) / 1000) };
    const status = this.#denies() ? "expired" : this.#problem === undefined ? "ok" : "stale";
    return { status, revision, ...(name !== undefined && { name }), age: ago(this.#inUse.since), ...checked, ...problem, ...expiresIn };
  }

  /** Whether the bundle in use has expired, and denies everything since. */
  #denies(): boolean {
    const header = this.#inUse?.pdp.header;
    if (header === undefined || this.#settings.opening.afterExpiry === "decide") return false;
    return expiryOf(header, this.#now()).kind === "expired";
  }

  /** Tells the operator once that a bundle expires soon, and once that it has. */
  #tellExpiry(header: BundleHeader): void {
    const { kind } = expiryOf(header, this.#now());
    if (this.#toldExpiry?.header === header && this.#toldExpiry.kind === kind) return;
    this.#toldExpiry = { header, kind };
    if (kind !== "soon" && kind !== "expired") return;
    const { revision, expires = 0 } = header;
    const event = kind === "soon" ? "expires-soon" : "expired";
    console.warn(JSON.stringify({ event, revision, expires: new Date(expires).toISOString() }));
  }

  #now(): number {
    return (this.#settings.clock ?? Date.now)();
  }

  #lookIfDue(context: Pick<ExecutionContext, "waitUntil">): Looking | undefined {
    const looking = this.#underWay() ?? this.#begin();
    // A request that its sender gives up must not take the look with it: others wait for it.
    if (looking !== undefined) context.waitUntil(looking.settled);
    return looking;
  }

  /** The runtime ends what has run for too long without a word. Then nobody waits for it any more. */
  #underWay(): Looking | undefined {
    const looking = this.#looking;
    return looking !== undefined && Date.now() - looking.since < GIVEN_UP ? looking : undefined;
  }

  #begin(): Looking | undefined {
    const now = Date.now();
    const { refreshMilliseconds } = this.#settings;
    const between = this.#inUse === undefined ? Math.min(refreshMilliseconds, RETRY) : refreshMilliseconds;
    if (this.#checked !== undefined && now - this.#checked < between) return undefined;
    const done = this.#look();
    const looking = { since: now, done, settled: done.then(() => this.#settle()) };
    this.#looking = looking;
    void done.then(() => {
      if (this.#looking === looking) this.#looking = undefined;
    });
    return looking;
  }

  /** Looks for a bundle once. It never fails: what goes wrong is the problem that `health` tells. */
  async #look(): Promise<void> {
    try {
      const found = await this.#settings.source(this.#inUse?.etag);
      if (found.kind === "missing") throw new Missing("there is no bundle");
      if (found.kind === "bundle") await this.#take(found.bytes, found.etag);
      this.#problem = undefined;
    } catch (thrown) {
      this.#problem = problemOf(thrown);
      console.error(JSON.stringify({ event: "bundle", problem: this.#problem, message: String(thrown) }));
      if (this.#inUse === undefined) await this.#takeLastGood();
    }
    this.#checked = Date.now();
  }

  async #takeLastGood(): Promise<void> {
    try {
      const bytes = await this.#settings.lastGood.read();
      if (bytes !== undefined) await this.#take(bytes, undefined);
      this.#kept = bytes;
    } catch (thrown) {
      console.error(JSON.stringify({ event: "last-good", problem: problemOf(thrown), message: String(thrown) }));
    }
  }

  /**
   * Does what no answer has to wait for: tells of a new bundle, and keeps it for other instances. For the first
   * answer of an instance these two were more work than the decision.
   */
  async #settle(): Promise<void> {
    if (this.#inUse === undefined || this.#inUse.bytes === this.#told) return;
    await pause(BEHIND_THE_ANSWER);
    const { bytes, pdp } = this.#inUse;
    if (bytes === this.#told) return;
    this.#told = bytes;
    const { revision, content } = pdp.header;
    console.log(JSON.stringify({ event: "bundle", revision, content }));
    if (bytes === this.#kept) return;
    this.#kept = bytes;
    await this.#settings.lastGood.write(bytes).catch((thrown: unknown) => console.error(String(thrown)));
  }

  async #take(bytes: Uint8Array, etag: string | undefined): Promise<void> {
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

/** A look for a bundle: until it is in use, and until what follows from it is done. */
interface Looking {
  readonly since: number;
  readonly done: Promise<void>;
  readonly settled: Promise<void>;
}

class Missing extends Error {}

function problemOf(thrown: unknown): string {
  if (thrown instanceof WardgateError) return thrown.code;
  return thrown instanceof Missing ? "missing" : "unreadable";
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** How long the first requests wait for a bundle, in milliseconds. */
const PATIENCE = 10_000;
/** Milliseconds in which an answer that waited for a bundle goes out. */
const BEHIND_THE_ANSWER = 100;
/** How long after a failure somebody looks again, while there is nothing in use. */
const RETRY = 1000;
const GIVEN_UP = 30_000;
