// Polls the server of a bundle for a change.
//
// An answer counts only if it arrives completely, within a time and a size. The request names the
// last accepted version, so that most answers are short.

import { WardgateError } from "../base/errors.ts";
import { awaitResponse, addressForMessage } from "../base/responses.ts";
import { readRetryAfter } from "./pace.ts";
import { readResponse } from "../pdp/source.ts";
import type { FetchInit, WatcherSettings } from "./watcher-options.ts";
import type { FetchResponse } from "../base/web.ts";

/** The version of a bundle on the server: one of two validators, or none. */
export type Validator = { readonly "if-none-match": string } | { readonly "if-modified-since": string } | undefined;

/** The result of a poll. */
export type PollResult =
  | { readonly kind: "unchanged" }
  | { readonly kind: "bundle"; readonly bytes: Uint8Array; readonly validator: Validator }
  | { readonly kind: "failed"; readonly error: unknown; readonly retryAfter: number };

/** Polls the server. It does not throw, and it ends in time whatever the server or `fetch` do. */
export async function poll(settings: WatcherSettings, known: Validator, closing: AbortSignal): Promise<PollResult> {
  let retryAfter = 0;
  try {
    return await within(settings, closing, async (signal) => {
      const headers = { ...(await settings.headers()), ...known };
      const init = { headers, signal, ...cacheBypass() };
      const name = addressForMessage(settings.url);
      const response = await awaitResponse(settings.fetch(settings.url, init), name);
      if (response.status === 304) return unchanged(response, known);
      retryAfter = response.ok ? 0 : readRetryAfter(response.headers.get("retry-after"), settings.clock());
      const bytes = await readResponse(response, name, settings.maxBytes);
      return { kind: "bundle", bytes, validator: validatorOf(response) };
    });
  } catch (error) {
    return { kind: "failed", error, retryAfter };
  }
}

/**
 * Runs work until the time limit or the end of the watcher. Work that goes on after that is
 * ignored.
 */
export async function within<T>(
  { timeout, timers }: Pick<WatcherSettings, "timeout" | "timers">,
  closing: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  closing.throwIfAborted();
  const controller = new AbortController();
  let close = (): void => {};
  let timer: unknown;
  const stopped = new Promise<never>((_, reject) => {
    const stop = (error: unknown): void => {
      controller.abort(error);
      reject(error);
    };
    close = () => stop(closing.reason);
    closing.addEventListener("abort", close);
    const late = new WardgateError("not-fetched", `no complete answer within ${timeout} milliseconds`);
    timer = unrefTimer(timers.setTimeout(() => stop(late), timeout));
  });
  try {
    return await Promise.race([stopped, work(controller.signal)]);
  } finally {
    timers.clearTimeout(timer);
    closing.removeEventListener("abort", close);
  }
}

/** Lets the program end while the timer is pending. */
export function unrefTimer(timer: unknown): unknown {
  (timer as { unref?: () => unknown } | undefined)?.unref?.();
  return timer;
}

function unchanged(response: FetchResponse, known: Validator): PollResult {
  if (known !== undefined) return { kind: "unchanged" };
  const message = `the answer is 304 to a request without a condition, found ${response.url || "no address"}`;
  throw new WardgateError("not-fetched", message);
}

function validatorOf({ headers }: FetchResponse): Validator {
  const tag = headers.get("etag");
  if (tag !== null && tag !== "") return { "if-none-match": tag };
  const [modified, date] = [headers.get("last-modified"), headers.get("date")];
  if (modified === null || date === null) return undefined;
  // The same second may bring another version, which a condition would hide (RFC 9110, section
  // 8.8.2.2).
  return Date.parse(date) - Date.parse(modified) >= 1000 ? { "if-modified-since": modified } : undefined;
}

/** Bypasses the cache of a browser. Some runtimes have none, and throw for this option. */
function cacheBypass(): Pick<FetchInit, "cache"> {
  return typeof Request === "function" && "cache" in Request.prototype ? { cache: "no-store" } : {};
}
