// What can be wrong with an answer before its content is looked at.

import { describe, isResponse } from "./describe.ts";
import { WardgateError, type Code } from "./errors.ts";
import type { FetchResponse } from "./web.ts";

/** The answer, when it is there. */
export async function fetched(answer: PromiseLike<unknown>, name: string): Promise<FetchResponse> {
  let response;
  try {
    response = await answer;
  } catch (cause) {
    throw new WardgateError("not-fetched", `cannot fetch ${name}: ${reason(cause)}`, { cause });
  }
  if (isResponse(response)) return response;
  throw new TypeError(`a promise must be of a Response, found one of ${describe(response)}`);
}

/** Refuses every answer but a good one. */
export function mustBeOk(response: FetchResponse, name: string): void {
  if (response.ok) return;
  giveBack(response);
  const { status, statusText } = response;
  const found = status === 0 ? "an opaque response, which nobody may read" : `${status} ${statusText}`.trim();
  throw new WardgateError("not-fetched", `${name} is not there: found ${found}`);
}

/** Refuses a page: many servers answer with one where they have nothing. */
export function mustNotBePage(response: FetchResponse, name: string, code: Code): void {
  const kind = mediaType(response);
  if (kind !== "text/html" && kind !== "application/xhtml+xml") return;
  giveBack(response);
  throw new WardgateError(code, `${name} is a page for people (${kind}), which servers send for a wrong path`);
}

/** What a response says that it is, in lower case and without parameters. */
export function mediaType(response: FetchResponse): string {
  return (response.headers.get("content-type") ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

/** An address as it may stand in a message: without what may be secret, and not without end. */
export function spelled(href: string): string {
  const { protocol, host, pathname } = new URL(href);
  const text = host === "" && protocol !== "file:" ? protocol : `${protocol}//${host}${pathname}`;
  return text.length > MAX_SPELLED ? `${text.slice(0, MAX_SPELLED)}...` : text;
}

/** The words of an exception. */
export function reason(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Node says only `fetch failed`, and why in the cause.
  const inner = cause.cause instanceof Error ? cause.cause.message : "";
  return inner === "" ? cause.message : `${cause.message} (${inner})`;
}

/** The connection behind a response that nobody reads is otherwise held for a while. */
function giveBack(response: FetchResponse): void {
  if (response.body === null || response.body.locked) return;
  response.body.getReader().cancel().catch(() => {});
}

const MAX_SPELLED = 200;
