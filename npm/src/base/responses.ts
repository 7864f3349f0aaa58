// Checks responses before their content is read.

import { describe, isResponse } from "./describe.ts";
import { WardgateError, type Code } from "./errors.ts";
import type { FetchResponse } from "./web.ts";

/** Returns the value of a promise; `name` stands in the error of a rejection. */
export async function awaitFetched(answer: PromiseLike<unknown>, name: string): Promise<unknown> {
  try {
    return await answer;
  } catch (cause) {
    throw new WardgateError("not-fetched", `cannot fetch ${name}: ${reason(cause)}`, { cause });
  }
}

/** Returns the response of a promise. */
export async function awaitResponse(answer: PromiseLike<unknown>, name: string): Promise<FetchResponse> {
  const response = await awaitFetched(answer, name);
  if (isResponse(response)) return response;
  throw new TypeError(`a promise must be of a Response, found one of ${describe(response)}`);
}

/** Refuses a response with an error status. */
export function mustBeOk(response: FetchResponse, name: string): void {
  if (response.ok) return;
  cancelBody(response);
  const { status, statusText } = response;
  const found = status === 0 ? "an opaque response, which cannot be read" : `${status} ${statusText}`.trim();
  throw new WardgateError("not-fetched", `${name} is not there: found ${found}`);
}

/** Refuses an HTML page, which many servers send for a missing file. */
export function mustNotBePage(response: FetchResponse, name: string, code: Code): void {
  const kind = mediaType(response);
  if (kind !== "text/html" && kind !== "application/xhtml+xml") return;
  cancelBody(response);
  throw new WardgateError(code, `${name} is an HTML page (${kind}), which servers send for a wrong path`);
}

/** Returns the media type of a response, in lower case and without parameters. */
export function mediaType(response: FetchResponse): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** Returns an address for a message: without parts that may be secret, and bounded in length. */
export function addressForMessage(href: string): string {
  // Turbopack gives an address without its origin, which `fetch` takes.
  const { protocol, host, pathname } = new URL(href, (globalThis as { readonly location?: { readonly href: string } }).location?.href);
  const text = host === "" && protocol !== "file:" ? protocol : `${protocol}//${host}${pathname}`;
  return text.length > MAX_SPELLED ? `${text.slice(0, MAX_SPELLED)}...` : text;
}

/** Returns the message of an exception. */
export function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // The message of Node is only `fetch failed`; the cause has the reason.
  const inner = cause.cause instanceof Error ? cause.cause.message : "";
  return inner === "" ? cause.message : `${cause.message} (${inner})`;
}

/**
 * Cancels the body of an unused response, which would otherwise keep its connection open for a
 * while.
 */
function cancelBody(response: FetchResponse): void {
  if (response.body === null || response.body.locked) return;
  response.body.getReader().cancel().catch(() => {});
}

const MAX_SPELLED = 200;
