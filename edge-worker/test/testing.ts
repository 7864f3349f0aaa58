// Shared parts of the tests: a worker with bindings, and requests for it.

import { createExecutionContext, env, waitOnExecutionContext } from "cloudflare:test";

import type { LimitNamespace } from "wardgate/ratelimit";

import type { Env } from "../src/env.ts";
import worker from "../src/index.ts";

/** The values from `vitest.config.ts`. */
interface Given {
  readonly POLICIES_KV: KVNamespace;
  readonly POLICIES_R2: R2Bucket;
  readonly INDEX: KVNamespace;
  readonly RELEASE_KEY: string;
  readonly POLICIES: string;
  readonly NEXT: string;
  readonly STRANGER: string;
  readonly DATED: string;
  readonly LIMITED: string;
  readonly LATER: string;
  readonly LIMITS: LimitNamespace;
  readonly INDEX_USERS: string;
  readonly INDEX_RECORDS: string;
  readonly INTEROP_IDP: string;
}

export const given = env as unknown as Given;
export const TOKEN = "a-token-for-the-tests";
/** The headers of a caller with a body. */
export const JSON_HEADERS = { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json" };
export const bytesOf = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
export const [policies, next] = [bytesOf(given.POLICIES), bytesOf(given.NEXT)];
export const [stranger, dated] = [bytesOf(given.STRANGER), bytesOf(given.DATED)];
export const [limited, later] = [bytesOf(given.LIMITED), bytesOf(given.LATER)];

/**
 * Returns a complete configuration, whose bundle is in KV. Each call is a deployment of its own.
 */
export function deployment(changes: { [Name in keyof Env]?: unknown } = {}): Env {
  const { POLICIES_KV, INDEX, RELEASE_KEY } = given;
  const own = { BUNDLE: "kv:policies", POLICIES_KV, INDEX, TRUSTED_KEYS: RELEASE_KEY, REFRESH_SECONDS: 0 };
  const all = { ...own, AUTH_TOKENS: { tests: TOKEN }, PAGE_KEY: "p".repeat(43), ...changes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Env;
}

/** Fills KV with bundle and index. */
export async function fill(): Promise<void> {
  await given.POLICIES_KV.put("policies", policies);
  await given.INDEX.put("subject/user", given.INDEX_USERS);
  await given.INDEX.put("resource/record", given.INDEX_RECORDS);
}

/** Sends a request as the platform does, and waits for the work after the response too. */
export async function send(deployed: Env, path: string, init: RequestInit = {}): Promise<Response> {
  return sendTo(deployed, `https://pdp.example.com${path}`, { cf: {}, ...init } as RequestInit);
}

export async function sendTo(deployed: Env, url: string, init: RequestInit): Promise<Response> {
  const context = createExecutionContext();
  const request = new Request<unknown, IncomingRequestCfProperties>(url, init as never);
  const response = await worker.fetch(request, deployed, context);
  await waitOnExecutionContext(context);
  return response;
}

/** Sends the request of `reading` to the endpoint for evaluations, with other headers or another body. */
export async function post(deployed: Env, init: RequestInit = {}, path = EVALUATION): Promise<Response> {
  return send(deployed, path, { method: "POST", headers: JSON_HEADERS, body: JSON.stringify(reading), ...init });
}

/** Sends a request with a token, and returns status and body. */
export async function ask(deployed: Env, path: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await post(deployed, { body: typeof body === "string" ? body : JSON.stringify(body) }, path);
  return { status: response.status, body: await response.json() };
}

/** Returns the metrics of a worker. */
export async function metrics(deployed: Env): Promise<Record<string, object>> {
  return (await send(deployed, "/metrics", { headers: JSON_HEADERS })).json();
}

export const EVALUATION = "/access/v1/evaluation";
export const EVALUATIONS = "/access/v1/evaluations";
export const alice = { type: "user", id: "alice" };
export const bob = { type: "user", id: "bob" };
export const record = { type: "record", id: "record-1" };
/** The request that alice may make, until the next revision. */
export const reading = { subject: alice, action: { name: "read" }, resource: record };
