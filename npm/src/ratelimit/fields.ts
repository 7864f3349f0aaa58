// What HTTP says about limits: the fields of draft-ietf-httpapi-ratelimit-headers-10, `Retry-After`, and its
// problem types. The draft may change; this file is the only one that knows it.

import { digestOf } from "./key.ts";
import type { Checked, Standing } from "./limiter.ts";
import { MAX_FIELD_LIMITS } from "./limits.ts";

/** The parts of an answer that fields and problems tell. */
export type Told = Pick<Checked, "unavailable" | "limits">;

/** The options of fields. */
export interface FieldOptions {
  /** False if the fields have no `pk`, the digest of the parts of the key. Default: true. */
  readonly partitionKey?: boolean | undefined;
}

/** A document of `application/problem+json`. */
export interface Problem {
  /** The address of the problem type. */
  readonly type: string;
  /** The summary of the type. */
  readonly title: string;
  /** The status code: 429 for a quota, 503 for a store that is away. */
  readonly status: 429 | 503;
  /** The names of the limits that refused. */
  readonly "violated-policies": readonly string[];
}

/**
 * Returns the fields of a response by their names.
 *
 * `RateLimit-Policy` lists all limits that are enforced. So does `RateLimit`, unless one refused: then it
 * lists those that did, and its `t` is the time until the cost is there. `Retry-After` is the longest of
 * them, so that no `t` is later; it is absent where a cost never will be there. A key that several actions met
 * is told once, and at most 16 are; those that refused come first.
 */
export function fields(checked: Told, { partitionKey = true }: FieldOptions = {}): Record<string, string> {
  const enforced = distinct(checked.limits.filter(isTold));
  const refused = enforced.filter(({ admits }) => !admits);
  const known = (refused.length === 0 ? enforced : refused).filter(({ state }) => state !== "store-away");
  const all: Record<string, string> = {};
  const parameter = (standing: Standing): string => (partitionKey ? partition(standing) : "");
  if (enforced.length > 0) all["RateLimit-Policy"] = enforced.map((one) => policyItem(one) + parameter(one)).join(", ");
  if (known.length > 0) all["RateLimit"] = known.map((one) => limitItem(one) + parameter(one)).join(", ");
  const wait = Math.max(0, ...refused.map(({ retryAfterMs }) => retryAfterMs));
  if (wait > 0 && wait < Infinity) all["Retry-After"] = String(seconds(wait));
  return all;
}

/** Returns the problem of a check that was refused; `undefined` if it was allowed. */
export function problem(checked: Told): Problem | undefined {
  const isViolated = (standing: Standing): boolean =>
    isTold(standing) && !standing.admits && (standing.state === "store-away" || !checked.unavailable);
  const names = checked.limits.filter(isViolated).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { ...(checked.unavailable ? REDUCED : EXCEEDED), "violated-policies": names };
}

/** Returns the response to a check that was refused; `undefined` if it was allowed. */
export function response(checked: Told, options?: FieldOptions): Response | undefined {
  const found = problem(checked);
  if (found === undefined) return undefined;
  const headers = { ...fields(checked, options), "Content-Type": "application/problem+json" };
  return new Response(JSON.stringify(found), { status: found.status, headers });
}

/** Returns each key of each limit once, and so many at most: of two the one that refused, or else the last. */
function distinct(limits: readonly Standing[]): readonly Standing[] {
  if (limits.length < 2) return limits;
  const known = new Map<string, Standing>();
  for (const limit of limits) {
    const id = `${digestOf(limit.key)}${limit.name}`;
    if (known.get(id)?.admits !== false || !limit.admits) known.set(id, limit);
  }
  const all = [...known.values()];
  if (all.length <= MAX_FIELD_LIMITS) return all;
  return [false, true].flatMap((admits) => all.filter((limit) => limit.admits === admits)).slice(0, MAX_FIELD_LIMITS);
}

/** Returns true for limits that are enforced and have been asked. */
function isTold({ state }: Standing): boolean {
  return state !== "shadow" && state !== "failed" && state !== "unasked";
}

function policyItem({ name, quota, window }: Standing): string {
  // A window of the calendar has no length, and one of less than a second no whole number.
  const isWhole = window !== "month" && window % 1_000_000 === 0;
  return `${text(name)};q=${quota}${isWhole ? `;w=${window / 1_000_000}` : ""}`;
}

function limitItem({ name, remaining, admits, retryAfterMs, resetMs }: Standing): string {
  const wait = admits ? resetMs : retryAfterMs;
  return `${text(name)};r=${remaining}${wait < Infinity ? `;t=${seconds(wait)}` : ""}`;
}

function partition({ key }: Standing): string {
  if (key.length === 0) return "";
  const bytes = digestOf(key).match(/../g)!.map((byte) => String.fromCharCode(Number.parseInt(byte, 16)));
  return `;pk=:${btoa(bytes.join(""))}:`;
}

/** Returns a string of structured fields. Other characters than those of ASCII are encoded as in addresses. */
function text(name: string): string {
  const ascii = name.replaceAll(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part));
  return `"${ascii.replaceAll(/["\\]/g, "\\$&")}"`;
}

function seconds(milliseconds: number): number {
  return Math.ceil(milliseconds / 1000);
}

const EXCEEDED = {
  type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
  title: "Request cannot be satisfied as assigned quota has been exceeded",
  status: 429,
} as const;

const REDUCED = {
  type: "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity",
  title: "Request cannot be satisfied due to temporary server capacity constraints",
  status: 503,
} as const;
