// Authentication: every caller is refused unless the configuration allows it.

import { beforeAll, describe, expect, it } from "vitest";

import type { Env } from "../src/env.ts";
import { deployment, EVALUATION, fill, JSON_HEADERS, post, send, TOKEN } from "./testing.ts";

beforeAll(fill);

async function status(deployed: Env, authorization?: string): Promise<number> {
  const headers = { "Content-Type": "application/json", ...(authorization !== undefined && { Authorization: authorization }) };
  return (await post(deployed, { headers })).status;
}

describe("a worker that is not configured", () => {
  it("refuses every request, without a reason", async () => {
    for (const changes of [
      { AUTH_TOKENS: undefined },
      { AUTH_TOKENS: "not JSON" },
      { AUTH_TOKENS: { tests: "short" } },
      { AUTH_TOKENS: { tests: "" } },
      { AUTH_TOKENS: { tests: "a token that no header can hold" } },
      { AUTH_TOKENS: ["a-token-for-the-tests"] },
      { AUTH_JWT: {} },
      { AUTH_JWT: { algorithm: "none", keys: [{}], issuer: "i", audience: "a" } },
      { AUTH_JWT: { algorithm: "HS256", keys: [{ kty: "oct", k: "c2hvcnQ" }], issuer: "i", audience: "a" } },
      { TRUSTED_KEYS: undefined },
      { TRUSTED_KEYS: '"unsigned"' },
      { TRUSTED_KEYS: "unsigned" },
      { BUNDLE: undefined },
      { BUNDLE: "ftp:policies" },
      { POLICIES_KV: undefined },
      { BUNDLE: "r2:policies" },
      { BUNDLE: "asset:/policies" },
      { PAGE_KEY: "c2hvcnQ" },
      { PDP_URL: "https://a.example?b" },
      { PDP_URL: "http://a.example" },
      { AFTER_EXPIRY: "allow" },
      { REFRESH_SECONDS: "soon" },
      { DECISION_SAMPLE: 2 },
      { DECISION_LOG: "queue" },
      { DECISION_LOG: "nowhere" },
    ] as { [Name in keyof Env]?: unknown }[]) {
      const deployed = deployment(changes);
      const response = await send(deployed, EVALUATION, { method: "POST", headers: { Authorization: `Bearer ${TOKEN}` } });
      expect(response.status, JSON.stringify(changes)).toBe(503);
      const body = { error: "not-configured", message: "this worker is not configured" };
      expect(await response.json()).toEqual(body);
      expect((await send(deployed, "/health")).status).toBe(503);
    }
    // Invalid trusted keys are detected when the first bundle is opened.
    expect(await status(deployment({ TRUSTED_KEYS: { kty: "AKP" } }), `Bearer ${TOKEN}`)).toBe(503);
    expect(deployment().TRUSTED_KEYS).toBeDefined();
  });
});

describe("a token of the configuration", () => {
  it("authenticates its caller, and no other token does", async () => {
    const deployed = deployment({ AUTH_TOKENS: { tests: TOKEN, other: "another-token-of-somebody" } });
    expect(await status(deployed, `Bearer ${TOKEN}`)).toBe(200);
    expect(await status(deployed, `bearer  ${TOKEN}`)).toBe(200);
    expect(await status(deployed, "Bearer another-token-of-somebody")).toBe(200);
    const almost = [`${TOKEN}x`, TOKEN.slice(0, -1), TOKEN.toUpperCase(), "", "x", "x".repeat(10_000), `${TOKEN} ${TOKEN}`, `${TOKEN},`];
    for (const token of almost) expect(await status(deployed, `Bearer ${token}`), token.slice(0, 40)).toBe(401);
    for (const header of [TOKEN, `Basic ${btoa(`tests:${TOKEN}`)}`, `Token ${TOKEN}`, "Bearer", ""]) {
      expect(await status(deployed, header), header).toBe(401);
    }
    expect(await status(deployed)).toBe(401);
  });

  it("is required as in RFC 6750, before the body is read", async () => {
    const bare = await send(deployment(), EVALUATION, { method: "POST", body: "{" });
    expect([bare.status, bare.headers.get("WWW-Authenticate")]).toEqual([401, 'Bearer realm="wardgate"']);
    const wrong = await send(deployment(), EVALUATION, { method: "POST", headers: { Authorization: "Bearer wrong" } });
    expect(wrong.headers.get("WWW-Authenticate")).toBe('Bearer realm="wardgate", error="invalid_token"');
    expect(await wrong.json()).toEqual({ error: "unauthorized", message: "the bearer token is not accepted" });
  });
});

describe("a signed token", () => {
  const algorithms = {
    ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
    EdDSA: { name: "Ed25519" },
    RS256: { name: "RSASSA-PKCS1-v1_5", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256" },
    PS256: { name: "RSA-PSS", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: "SHA-256", saltLength: 32 },
  };
  const now = (): number => Math.floor(Date.now() / 1000);
  const part = (value: unknown): string => encoded(new TextEncoder().encode(JSON.stringify(value)));
  const encoded = (bytes: Uint8Array): string =>
    btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const claims = () => ({ iss: "https://login.example.com", aud: "pdp", sub: "shop", exp: now() + 300 });

  async function keyPair(algorithm: keyof typeof algorithms): Promise<CryptoKeyPair> {
    return (await crypto.subtle.generateKey(algorithms[algorithm], true, ["sign", "verify"])) as CryptoKeyPair;
  }

  async function signed(algorithm: keyof typeof algorithms, { privateKey }: CryptoKeyPair, body: object, head = {}): Promise<string> {
    const text = `${part({ alg: algorithm, typ: "JWT", ...head })}.${part(body)}`;
    const mark = await crypto.subtle.sign(algorithms[algorithm], privateKey, new TextEncoder().encode(text));
    return `${text}.${encoded(new Uint8Array(mark as ArrayBuffer))}`;
  }

  async function settings(algorithm: keyof typeof algorithms, pairs: readonly CryptoKeyPair[], more = {}): Promise<Env> {
    const exported = pairs.map(({ publicKey }) => crypto.subtle.exportKey("jwk", publicKey) as Promise<JsonWebKey>);
    const keys = (await Promise.all(exported)).map((jwk, at) => ({ ...jwk, kid: `key-${at}` }));
    const AUTH_JWT = JSON.stringify({ algorithm, keys, issuer: "https://login.example.com", audience: "pdp", ...more });
    return deployment({ AUTH_TOKENS: undefined, AUTH_JWT });
  }

  it("is accepted for each algorithm", async () => {
    for (const algorithm of Object.keys(algorithms) as (keyof typeof algorithms)[]) {
      const pair = await keyPair(algorithm);
      const deployed = await settings(algorithm, [pair]);
      expect(await status(deployed, `Bearer ${await signed(algorithm, pair, claims())}`), algorithm).toBe(200);
      const other = await keyPair(algorithm);
      expect(await status(deployed, `Bearer ${await signed(algorithm, other, claims())}`), algorithm).toBe(401);
    }
  });

  it("of one caller gets no page of another caller with that name", async () => {
    const pair = await keyPair("ES256");
    const { AUTH_JWT } = await settings("ES256", [pair]);
    const deployed = deployment({ AUTH_TOKENS: { shop: TOKEN }, AUTH_JWT });
    const search = { subject: { type: "user", id: "alice" }, action: { name: "view" }, resource: { type: "record" } };
    const page = async (token: string, page: object): Promise<{ status: number; next: string }> => {
      const headers = { ...JSON_HEADERS, Authorization: `Bearer ${token}` };
      const response = await post(deployed, { headers, body: JSON.stringify({ ...search, page }) }, "/access/v1/search/resource");
      const body = (await response.json()) as { page?: { next_token: string } };
      return { status: response.status, next: body.page?.next_token ?? "" };
    };
    const { sub, ...others } = claims();
    const callers = [TOKEN, await signed("ES256", pair, { ...others, sub }), await signed("ES256", pair, { ...others, client_id: sub })];
    for (const [at, own] of callers.entries()) {
      const { next } = await page(own, { limit: 2 });
      for (const [other, token] of callers.entries()) {
        expect((await page(token, { token: next })).status, `${at} ${other}`).toBe(at === other ? 200 : 400);
      }
    }
  });

  it("is valid for its time, its audience and its issuer only", async () => {
    const pair = await keyPair("ES256");
    const deployed = await settings("ES256", [pair]);
    const check = async (changes: object, expected: number): Promise<void> => {
      const token = await signed("ES256", pair, { ...claims(), ...changes });
      expect(await status(deployed, `Bearer ${token}`), JSON.stringify(changes)).toBe(expected);
    };
    await check({}, 200);
    await check({ aud: ["other", "pdp"] }, 200);
    await check({ nbf: now() - 10 }, 200);
    await check({ exp: now() - 10 }, 200);
    for (const exp of [now() - 60, undefined, "9999999999", null]) await check({ exp }, 401);
    for (const nbf of [now() + 60, "0", null]) await check({ nbf }, 401);
    for (const aud of ["other", ["other"], undefined, "", { pdp: 1 }]) await check({ aud }, 401);
    for (const iss of ["https://login.example.com/", undefined]) await check({ iss }, 401);
  });

  it("chooses neither its algorithm nor its key", async () => {
    const [pair, second] = [await keyPair("ES256"), await keyPair("ES256")];
    const deployed = await settings("ES256", [pair, second]);
    const check = async (token: string, expected: number): Promise<void> => {
      expect(await status(deployed, `Bearer ${token}`), token.slice(0, 60)).toBe(expected);
    };
    await check(await signed("ES256", second, claims()), 200);
    await check(await signed("ES256", second, claims(), { kid: "key-1" }), 200);
    await check(await signed("ES256", second, claims(), { kid: "key-0" }), 401);
    await check(await signed("ES256", pair, claims(), { crit: ["exp"] }), 401);
    await check(await signed("ES256", pair, claims(), { alg: "none" }), 401);
    const jwk = await crypto.subtle.exportKey("jwk", (await keyPair("ES256")).publicKey);
    await check(await signed("ES256", await keyPair("ES256"), claims(), { jwk }), 401);
    const good = await signed("ES256", pair, claims());
    const [head = "", body = "", mark = ""] = good.split(".");
    await check(`${part({ alg: "none" })}.${body}.`, 401);
    await check(`${part({ alg: "HS256" })}.${body}.${mark}`, 401);
    await check(`${head}.${part({ ...claims(), sub: "root" })}.${mark}`, 401);
    for (const token of [`${head}.${body}`, `${head}.${body}.`, `${good}.x`, `.${body}.${mark}`, "..", `${head}.${body}.${mark.slice(2)}`]) await check(token, 401);
  });

  it("needs the scope if one is configured", async () => {
    const pair = await keyPair("EdDSA");
    const deployed = await settings("EdDSA", [pair], { scope: "decide" });
    const check = async (scope: unknown, expected: number): Promise<void> => {
      expect(await status(deployed, `Bearer ${await signed("EdDSA", pair, { ...claims(), scope })}`)).toBe(expected);
    };
    await check("read decide", 200);
    for (const scope of ["read", "decider", "", undefined, ["decide"]]) await check(scope, 403);
  });
});
