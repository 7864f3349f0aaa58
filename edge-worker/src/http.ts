// Requests in, responses out: what HTTP asks of every endpoint.

import { AuthzenError, type ErrorBody } from "wardgate/authzen";

import { NotReady } from "./policies.ts";
import { fromUtf8, readBounded, TooLarge } from "./text.ts";

/** An answer that is none. Its message goes out, so it says nothing about the inside. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A response with a JSON object. Nothing is stored on the way: a decision holds for this moment. */
export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...headers } });
}

/** What was thrown, as a response. What nobody expected is told to the operator only. */
export function failed(thrown: unknown): Response {
  const { status, code, message, headers } = problemOf(thrown);
  const body: ErrorBody = { error: code, message };
  return json(body, status, headers);
}

/** Reads the JSON of a request, bounded while it is read. */
export async function readBody(request: Request): Promise<unknown> {
  const type = request.headers.get("Content-Type") ?? "";
  if (!/^application\/json *(; *charset="?utf-8"? *)?$/i.test(type.trim())) {
    throw new Problem(400, "bad-request", "the Content-Type must be `application/json`");
  }
  const bytes = request.body === null ? new Uint8Array() : await readBounded(request.body, MAX_BODY_BYTES, MAX_PASSED_OVER);
  try {
    return JSON.parse(fromUtf8(bytes));
  } catch {
    throw new Problem(400, "bad-request", "the body must be JSON in UTF-8");
  }
}

function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof AuthzenError) return new Problem(400, thrown.code, thrown.message);
  if (thrown instanceof TooLarge) {
    return new Problem(413, "too-large", `the body must have at most ${MAX_BODY_BYTES} bytes`);
  }
  console.error(JSON.stringify({ event: "failure", message: String(thrown) }));
  if (thrown instanceof NotReady) {
    return new Problem(503, "not-ready", "nothing can be decided at the moment", { "Retry-After": "1" });
  }
  return new Problem(500, "internal", "the request could not be answered");
}

const MAX_BODY_BYTES = 2 ** 20;
/** How much of a body that is too large is read and forgotten: a sender that is cut off does not see the answer. */
const MAX_PASSED_OVER = 16 * 2 ** 20;
