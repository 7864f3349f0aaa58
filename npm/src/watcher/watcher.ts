// Keeps a PDP up to date with a bundle on a server.
//
// Law: only a verified bundle is put into use, atomically, by `reload`; on any failure the last
// good one stays. At most one poll is in progress. A function of the caller can neither stop the
// watcher nor make it use a refused bundle.

import { WardgateError, type Code } from "../base/errors.ts";
import { expiryOf, type Expiry } from "../pdp/expiry.ts";
import { hash } from "../pdp/hashing.ts";
import type { BundleHeader } from "../pdp/header.ts";
import { open } from "../pdp/open.ts";
import { wait } from "./pace.ts";
import { poll, unrefTimer, within, type PollResult, type Validator } from "./polling.ts";
import { callListener } from "../base/report.ts";
import type { PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";
import type { Pdp } from "../pdp/types.ts";
import { readWatcherOptions, type WatcherListener, type WatcherOptions, type WatcherSettings } from "./watcher-options.ts";
import { ignoreRejection } from "../base/web.ts";

/** The result of one poll. */
export type Outcome =
  | { readonly kind: "activated"; readonly header: BundleHeader }
  /** The bundle is good and waits for `activate`. */
  | { readonly kind: "loaded"; readonly header: BundleHeader }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly error: WardgateError }
  | { readonly kind: "failed"; readonly error: unknown };

/** An updater for the bundle of a PDP. */
export interface Watcher<P extends PolicyTypes = RegisteredTypes> {
  /**
   * The PDP, once it has its first bundle. Rejected if the watcher is closed before.
   *
   * @example
   *     const pdp = await watcher.ready;
   */
  readonly ready: Promise<Pdp<P>>;
  /** The PDP; `undefined` before the first bundle. */
  readonly pdp: Pdp<P> | undefined;
  /** The header of a good bundle that waits for `activate`. */
  readonly waiting: BundleHeader | undefined;
  /**
   * Puts the waiting bundle into use, and returns true if there was one.
   *
   * @throws WardgateError if the bundle is no longer good, for example after its expiry.
   *
   * @example
   *     if (watcher.waiting !== undefined) watcher.activate();
   */
  activate(): boolean;
  /**
   * Polls the server now, or returns the result of the poll in progress.
   *
   * @throws WardgateError with the code `disposed` if the watcher is closed. A failed poll is an
   * outcome, not an exception.
   *
   * @example
   *     const { kind } = await watcher.refresh();
   */
  refresh(): Promise<Outcome>;
  /** Stops watching. The PDP stays open. */
  close(): void;
  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Watches a bundle on a server: it opens the first bundle, and puts each new one into use.
 *
 * @throws TypeError or RangeError if an option is invalid.
 *
 * @example
 *     const url = "https://policies.example/album.bundle";
 *     const watcher = createWatcher({ url, trust, interval: 30_000 });
 *     const pdp = await watcher.ready;
 */
export function createWatcher<P extends PolicyTypes = RegisteredTypes>(options: WatcherOptions): Watcher<P>;
export function createWatcher(options: WatcherOptions): Watcher {
  return new Watching(readWatcherOptions(options));
}

/** A good bundle. */
interface Offer {
  readonly header: BundleHeader;
  /** The PDP that verified it, and whose `reload` puts it into use. */
  readonly pdp: Pdp;
  readonly bytes: Uint8Array;
}

class Watching implements Watcher {
  readonly ready: Promise<Pdp>;
  readonly #settings: WatcherSettings;
  readonly #closing = new AbortController();
  #isReady: (pdp: Pdp) => void = () => {};
  #isNot: (error: unknown) => void = () => {};
  #pdp: Pdp | undefined;
  #offer: Offer | undefined;
  /** The header of the bundle that this watcher put into use last. */
  #inUse: BundleHeader | undefined;
  /** The validator of the last accepted bundle for the server, and the digest of its bytes. */
  #known: { readonly validator: Validator; readonly digest: string } | undefined;
  /** The last bundle whose expiry was checked, and the result. */
  #reportedExpiry: { readonly header: BundleHeader; readonly kind: Expiry["kind"] } | undefined;
  #pending: Promise<Outcome> | undefined;
  #timer: unknown;
  #failures = 0;

  constructor(settings: WatcherSettings) {
    this.#settings = settings;
    this.ready = new Promise((resolve, reject) => {
      this.#isReady = resolve;
      this.#isNot = reject;
    });
    ignoreRejection(this.ready);
    const { pdp, signal, interval } = settings;
    if (pdp !== undefined) this.#begin(pdp);
    if (signal?.aborted) this.#stop(signal.reason);
    signal?.addEventListener("abort", this.#abort);
    if (interval > 0) ignoreRejection(this.refresh());
  }

  get pdp(): Pdp | undefined {
    return this.#pdp;
  }

  get waiting(): BundleHeader | undefined {
    return this.#offer?.header;
  }

  activate(): boolean {
    this.#mustBeOpen();
    const offer = this.#offer;
    if (offer === undefined) return false;
    try {
      // It is verified again: time has passed, and another bundle may be in use.
      offer.pdp.reload(offer.bytes);
    } catch (error) {
      this.#drop(offer);
      this.#report(failure(error));
      throw error;
    }
    this.#use(offer);
    return true;
  }

  async refresh(): Promise<Outcome> {
    this.#mustBeOpen();
    // Not synchronously: a function of the caller that runs in between may call `refresh` again.
    this.#pending ??= Promise.resolve()
      .then(() => this.#poll())
      .finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  close(): void {
    this.#stop(closed());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #poll(): Promise<Outcome> {
    this.#settings.timers.clearTimeout(this.#timer);
    const [outcome, retryAfter] = await this.#outcome();
    this.#mustBeOpen();
    const isBad = outcome.kind === "failed" || outcome.kind === "refused";
    this.#failures = isBad ? this.#failures + 1 : 0;
    this.#schedule(retryAfter);
    this.#report(outcome);
    callListener(() => this.#reportExpiry(), undefined);
    if (outcome.kind === "failed" && codeOf(outcome.error) === "disposed") this.#stop(outcome.error);
    return outcome;
  }

  async #outcome(): Promise<readonly [Outcome, number]> {
    let result = await this.#question(this.#known?.validator);
    let outcome = await this.#judge(result);
    if (outcome.kind === "refused" && outcome.error.code === "wrong-base") {
      // The delta was for another bundle than the one in use; without a condition the server sends
      // the whole bundle.
      result = await this.#question(undefined);
      outcome = await this.#judge(result);
    }
    return [outcome, result.kind === "failed" ? result.retryAfter : 0];
  }

  #question(validator: Validator): Promise<PollResult> {
    return poll(this.#settings, validator, this.#closing.signal);
  }

  async #judge(result: PollResult): Promise<Outcome> {
    try {
      switch (result.kind) {
        case "failed":
          throw result.error;
        case "unchanged":
          return result;
        case "bundle":
          return await this.#take(result.bytes, result.validator);
      }
    } catch (error) {
      return failure(error);
    }
  }

  async #take(bytes: Uint8Array, validator: Validator): Promise<Outcome> {
    if (this.#known !== undefined && this.#known.digest === digestOf(bytes)) {
      this.#known = { ...this.#known, validator };
      return { kind: "unchanged" };
    }
    const offer = await this.#examine(bytes);
    this.#drop(this.#offer);
    this.#offer = offer;
    this.#known = { validator, digest: digestOf(bytes) };
    const { header } = offer;
    this.#emit("loaded", header);
    try {
      if (await this.#mayUse(offer)) {
        // The first bundle was opened a moment ago.
        if (offer.pdp === this.#pdp) offer.pdp.reload(bytes);
        this.#use(offer);
      }
    } catch (error) {
      this.#drop(offer);
      throw error;
    }
    return { kind: this.#inUse === header ? "activated" : "loaded", header };
  }

  /** Verifies the bytes of a bundle. */
  async #examine(bytes: Uint8Array): Promise<Offer> {
    this.#mustBeOpen();
    const pdp = this.#pdp;
    if (pdp !== undefined) return { header: pdp.examine(bytes), pdp, bytes };
    const opened = await open(bytes, this.#settings.opening);
    if (!this.#closing.signal.aborted) return { header: opened.header, pdp: opened, bytes };
    opened.dispose();
    throw closed();
  }

  async #mayUse(offer: Offer): Promise<boolean> {
    // A listener may have closed the watcher or put the bundle into use already.
    this.#mustBeOpen();
    if (this.#offer !== offer) return false;
    const result = await within(this.#settings, this.#closing.signal, async () => this.#settings.activate(offer.header));
    return result === true && this.#offer === offer;
  }

  #use({ header, pdp }: Offer): void {
    this.#offer = undefined;
    this.#inUse = header;
    if (this.#pdp === undefined) this.#begin(pdp);
    this.#emit("activated", header);
  }

  #begin(pdp: Pdp): void {
    this.#pdp = pdp;
    this.#isReady(pdp);
  }

  /** Drops a waiting bundle, and its validator with it. */
  #drop(offer: Offer | undefined): void {
    if (offer === undefined || offer !== this.#offer) return;
    this.#offer = undefined;
    this.#known = undefined;
    if (offer.pdp !== this.#pdp) offer.pdp.dispose();
  }

  #schedule(retryAfter: number): void {
    const { interval, timers } = this.#settings;
    if (interval === 0) return;
    const history = { failures: this.#failures, hasBundle: this.#pdp !== undefined, retryAfter };
    this.#timer = unrefTimer(timers.setTimeout(() => ignoreRejection(this.refresh()), wait(this.#settings, history)));
  }

  readonly #abort = (): void => this.#stop(this.#settings.signal?.reason);

  #stop(reason: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(reason);
    this.#settings.signal?.removeEventListener("abort", this.#abort);
    this.#settings.timers.clearTimeout(this.#timer);
    this.#drop(this.#offer);
    this.#isNot(reason);
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw closed();
  }

  /**
   * Reports the outcome of a poll. The events `loaded` and `activated` were reported when they
   * occurred.
   */
  #report(outcome: Outcome): void {
    switch (outcome.kind) {
      case "activated":
      case "loaded":
        return;
      case "unchanged":
        return this.#emit("unchanged");
      case "refused":
      case "failed":
        return this.#emit(outcome.kind, outcome.error);
    }
  }

  /** Reports once for each bundle that it expires soon, and once that it has expired. */
  #reportExpiry(): void {
    const header = this.#pdp?.header;
    if (header === undefined) return;
    const expiry = expiryOf(header, this.#settings.clock());
    const reported = this.#reportedExpiry;
    if (reported?.header === header && reported.kind === expiry.kind) return;
    this.#reportedExpiry = { header, kind: expiry.kind };
    if (expiry.kind === "soon") this.#emit("expiring", header, expiry.millisecondsLeft);
    if (expiry.kind === "expired") this.#emit("expired", header);
  }

  #emit(event: keyof WatcherListener, ...details: readonly unknown[]): void {
    if (this.#closing.signal.aborted) return;
    const { on } = this.#settings;
    callListener((details) => (on[event] as ((...details: unknown[]) => unknown) | undefined)?.call(on, ...details), details);
  }
}

/** Distinguishes a refused bundle from a failed poll. */
function failure(error: unknown): Outcome {
  const code = codeOf(error);
  const isRefusal = code !== undefined && !FAILURES.includes(code);
  return isRefusal ? { kind: "refused", error: error as WardgateError } : { kind: "failed", error };
}

function codeOf(error: unknown): Code | undefined {
  return error instanceof WardgateError ? error.code : undefined;
}

function closed(): WardgateError {
  return new WardgateError("disposed", "this watcher is closed");
}

function digestOf(bytes: Uint8Array): string {
  return hash(bytes).join();
}

const FAILURES: readonly Code[] = ["disposed", "internal", "not-fetched", "not-loaded", "wrong-code"];
