// Keeps a PDP up to date with a bundle on a server.
//
// Law: only a bundle that was verified is taken into use, all at once, by `reload`; whatever goes wrong, the last
// good one stays. One question is under way at a time. A function of the caller can neither stop the watcher
// nor make it take a bundle that is not good.

import { WardgateError, type Code } from "../base/errors.ts";
import { expiryOf, type Expiry } from "../pdp/expiry.ts";
import { hash } from "../pdp/hashing.ts";
import type { BundleHeader } from "../pdp/header.ts";
import { open } from "../pdp/open.ts";
import { wait } from "./pace.ts";
import { poll, unhurried, within, type PollResult, type Validator } from "./polling.ts";
import { guarded } from "../base/report.ts";
import type { Pdp } from "../pdp/types.ts";
import { readWatcherOptions, type WatcherListener, type WatcherOptions, type WatcherSettings } from "./watcher-options.ts";
import { disregard } from "../base/web.ts";

/** What came of one question to the server. */
export type Outcome =
  | { readonly kind: "activated"; readonly header: BundleHeader }
  /** The bundle is good and waits for `activate`. */
  | { readonly kind: "loaded"; readonly header: BundleHeader }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly error: WardgateError }
  | { readonly kind: "failed"; readonly error: unknown };

/** What looks after the bundle of a PDP. */
export interface Watcher {
  /** The PDP, when it has its first bundle. Rejected when the watcher is closed before. */
  readonly ready: Promise<Pdp>;
  /** The PDP, if it has a bundle yet. */
  readonly pdp: Pdp | undefined;
  /** What is known of a good bundle that waits for `activate`. */
  readonly waiting: BundleHeader | undefined;
  /**
   * Takes the bundle that waits into use; returns whether there was one.
   *
   * @throws WardgateError when it is no longer good, such as after its last day.
   */
  activate(): boolean;
  /**
   * Asks the server now, or waits for the question that is under way.
   *
   * @throws WardgateError with the code `disposed` when the watcher is closed. A failure is an outcome.
   */
  refresh(): Promise<Outcome>;
  /** Stops watching. The PDP goes on deciding with what it has. */
  close(): void;
  /** The same as `close`, for `using`. */
  [Symbol.dispose](): void;
}

/**
 * Watches a bundle on a server: opens the first one, and takes each new one into use.
 *
 * @throws TypeError or RangeError for options that cannot be.
 *
 * @example
 *     const watcher = createWatcher({ url: "https://policies.example/album.bundle", trust, interval: 30_000 });
 *     const pdp = await watcher.ready;
 */
export function createWatcher(options: WatcherOptions): Watcher {
  return new Watching(readWatcherOptions(options));
}

/** A good bundle. */
interface Offer {
  readonly header: BundleHeader;
  /** What knows the policies; its `reload` is the switch. */
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
  /** What this watcher took into use last. */
  #inUse: BundleHeader | undefined;
  /** What the server is told of the bundle that was accepted last, and the digest of its bytes. */
  #known: { readonly validator: Validator; readonly digest: string } | undefined;
  /** The bundle that expiry was looked at for last, and what it was. */
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
    disregard(this.ready);
    const { pdp, signal, interval } = settings;
    if (pdp !== undefined) this.#begin(pdp);
    if (signal?.aborted) this.#stop(signal.reason);
    signal?.addEventListener("abort", this.#abort);
    if (interval > 0) disregard(this.refresh());
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
      // It is verified again: time has gone on, and perhaps another bundle is in use.
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
    // Not at once: a function of the caller that is called on the way may ask again.
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
    guarded(() => this.#reportExpiry(), undefined);
    if (outcome.kind === "failed" && codeOf(outcome.error) === "disposed") this.#stop(outcome.error);
    return outcome;
  }

  async #outcome(): Promise<readonly [Outcome, number]> {
    let result = await this.#question(this.#known?.validator);
    let outcome = await this.#judge(result);
    if (outcome.kind === "refused" && outcome.error.code === "wrong-base") {
      // The server took another bundle for the one in use; without a condition it sends the whole one.
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

  /** Verifies what has arrived. */
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
    // A listener may have closed the watcher or taken the bundle into use already.
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

  /** Gives up a bundle that waits. The server is asked as if it had never come. */
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
    this.#timer = unhurried(timers.setTimeout(() => disregard(this.refresh()), wait(this.#settings, history)));
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

  /** Tells what came of a question; what was loaded and activated was told when it happened. */
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

  /** Tells once of each bundle that it expires soon, and once that it has. Nothing else may notice in time. */
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
    guarded((details) => (on[event] as ((...details: unknown[]) => unknown) | undefined)?.call(on, ...details), details);
  }
}

/** Tells what is not accepted from what has not come to that. */
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
