// HTTP requests and responses of all endpoints.

import { AuthzenError, parseBody, type ErrorBody } from "wardgate/authzen";

import { NotReady } from "./policies.ts";
import { fromUtf8, readBounded, TooLarge } from "./text.ts";

/** An error with a response. Its message is public, so it reveals no internals. */
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

/**
 * Returns a response with a JSON object. Caches must not store it: a decision is valid for this
 * moment.
 */
export function json(body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...headers } });
}

/** Returns the response for a thrown value. Unexpected errors are reported to the operator only. */
export function errorResponse(thrown: unknown): Response {
  const { status, code, message, headers } = problemOf(thrown);
  const body: ErrorBody = { error: code, message };
  return json(body, status, headers);
}

/** Reads the JSON of a request, with a bound on its size. */
export async function readBody(request: Request): Promise<unknown> {
  if (!isJson(request.headers.get("Content-Type") ?? "")) {
    throw new Problem(400, "bad-request", "the Content-Type must be `application/json`");
  }
  const bytes = request.body === null ? new Uint8Array() : await readBounded(request.body, MAX_BODY_BYTES, MAX_PASSED_OVER);
  let text;
  try {
    text = fromUtf8(bytes);
  } catch {
    throw new Problem(400, "bad-request", "the body must be JSON in UTF-8");
  }
  return parseBody(text);
}

/**
 * Returns true if a media type (RFC 9110, 8.3.1) is that of JSON, with any parameters; a `charset`
 * must be UTF-8.
 */
function isJson(type: string): boolean {
  const [essence = "", ...parameters] = type.split(";").map((part) => part.trim());
  if (type.length > LONGEST_TYPE || essence.toLowerCase() !== "application/json") return false;
  return parameters.every((text) => {
    const [, name, quoted, token] = PARAMETER.exec(text) ?? [];
    if (name === undefined) return text === "";
    return name.toLowerCase() !== "charset" || (quoted ?? token)?.toLowerCase() === "utf-8";
  });
}

function problemOf(thrown: unknown): Problem {
  if (thrown instanceof Problem) return thrown;
  if (thrown instanceof AuthzenError) return new Problem(400, thrown.code, thrown.message);
  if (thrown instanceof TooLarge) {
    return new Problem(413, "too-large", `the body must have at most ${MAX_BODY_BYTES} bytes`);
  }
  console.error(JSON.stringify({ event: "failure", message: String(thrown) }));
  if (thrown instanceof NotReady) {
    return new Problem(503, "not-ready", "no decision can be made at the moment", { "Retry-After": "1" });
  }
  return new Problem(500, "internal", "the request could not be answered");
}

/** A parameter, quoted or not. A semicolon in quotes is not supported. */
const PARAMETER = /^([\w!#$%&'*+.^`|~-]+)=(?:"([^"\\]*)"|([\w!#$%&'*+.^`|~-]+))$/;
const LONGEST_TYPE = 200;
const MAX_BODY_BYTES = 2 ** 20;
/**
 * The bytes of a too large body that are read and discarded: a sender that is cut off does not see
 * the response.
 */
const MAX_PASSED_OVER = 16 * 2 ** 20;
