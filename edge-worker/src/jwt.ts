// Verifies signed tokens (RFC 7519) by the rules of RFC 8725: the configuration fixes the
// algorithm, the keys, the issuer and the audience. A token chooses none of them; it may only name
// one of the keys.

import type { Caller } from "./auth.ts";
import { fromBase64Url, fromUtf8 } from "./text.ts";

/** The conditions for signed tokens. */
export interface JwtSettings {
  readonly algorithm: "ES256" | "EdDSA" | "HS256" | "PS256" | "RS256";
  /** JSON Web Keys: public ones, or `oct` for HS256. Several during a key rotation. */
  readonly keys: readonly (JsonWebKey & { readonly kid?: string })[];
  readonly issuer: string;
  readonly audience: string;
  /** A scope that the token must have (RFC 8693). */
  readonly scope?: string;
}

interface Key {
  readonly id: string | undefined;
  readonly key: CryptoKey;
}

export class JwtVerifier {
  readonly #settings: JwtSettings;
  readonly #keys: readonly Key[];

  private constructor(settings: JwtSettings, keys: readonly Key[]) {
    this.#settings = settings;
    this.#keys = keys;
  }

  /** Reads the settings. @throws Error if they are invalid. */
  static async create(given: unknown): Promise<JwtVerifier> {
    const settings = readSettings(given);
    const keys = settings.keys.map((jwk) => importKey(jwk, settings.algorithm));
    return new JwtVerifier(settings, await Promise.all(keys));
  }

  /** Returns the caller of a token that is valid at the time `now`. */
  async caller(token: string, now: number): Promise<Caller> {
    const claims = await this.#verified(token);
    if (claims === undefined || !this.#isFor(claims, now / 1000)) return { kind: "unknown" };
    const { scope } = this.#settings;
    if (scope !== undefined && !scopesOf(claims).includes(scope)) return { kind: "forbidden" };
    const by = (["client_id", "sub"] as const).find((claim) => claims[claim] !== undefined && claims[claim] !== null);
    const name = by === undefined ? undefined : claims[by];
    if (by !== undefined && typeof name === "string") return { kind: "known", by, name, claims };
    return { kind: "known", by: "iss", name: this.#settings.issuer, claims };
  }

  /** Returns the claims if one of the keys has signed them. */
  async #verified(token: string): Promise<Claims | undefined> {
    const [head = "", body = "", mark = "", ...more] = token.split(".");
    const header = readJson(head);
    const signature = fromBase64Url(mark);
    if (more.length > 0 || signature === undefined || header?.["alg"] !== this.#settings.algorithm) return undefined;
    // An extension that must be understood; this code understands none.
    if (header["crit"] !== undefined) return undefined;
    const signed = new TextEncoder().encode(`${head}.${body}`);
    for (const { id, key } of this.#keys) {
      if (id !== undefined && header["kid"] !== undefined && header["kid"] !== id) continue;
      if (await crypto.subtle.verify(VERIFYING[this.#settings.algorithm], key, signature, signed)) return readJson(body);
    }
    return undefined;
  }

  /**
   * Returns true if the claims are for this PDP and this time, in seconds. A token without an end
   * is refused.
   */
  #isFor({ iss, aud, exp, nbf }: Claims, now: number): boolean {
    const { issuer, audience } = this.#settings;
    const isMeant = aud === audience || (Array.isArray(aud) && aud.includes(audience));
    const hasBegun = nbf === undefined || (typeof nbf === "number" && nbf <= now + LEEWAY);
    return iss === issuer && isMeant && hasBegun && typeof exp === "number" && now < exp + LEEWAY;
  }
}

/** The claims of a signed token. */
export interface Claims {
  readonly [name: string]: unknown;
  readonly iss?: unknown;
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly nbf?: unknown;
}

function scopesOf(claims: Claims): readonly string[] {
  const scope = claims["scope"];
  return typeof scope === "string" ? scope.split(" ") : [];
}

function readSettings(given: unknown): JwtSettings {
  if (typeof given !== "object" || given === null) throw new Error("AUTH_JWT must be an object");
  const settings = given as { readonly [name: string]: unknown };
  for (const name of Object.keys(settings)) {
    if (!SETTINGS.includes(name)) throw new Error(`unknown member \`${name}\` of AUTH_JWT, expected one of ${SETTINGS.join(", ")}`);
  }
  const { algorithm, keys, issuer, audience, scope } = settings;
  if (typeof algorithm !== "string" || !Object.hasOwn(VERIFYING, algorithm)) {
    throw new Error(`\`algorithm\` of AUTH_JWT must be one of ${Object.keys(VERIFYING).join(", ")}`);
  }
  if (!Array.isArray(keys) || keys.length === 0) throw new Error("`keys` of AUTH_JWT must be a list of JSON Web Keys");
  for (const text of [issuer, audience, scope ?? "none"]) {
    if (typeof text !== "string" || text === "") throw new Error("`issuer` and `audience` of AUTH_JWT must be texts");
  }
  return given as JwtSettings;
}

async function importKey(jwk: JsonWebKey & { kid?: string }, algorithm: JwtSettings["algorithm"]): Promise<Key> {
  if (algorithm === "HS256" && (fromBase64Url(jwk.k ?? "")?.length ?? 0) < 32) {
    throw new Error("a key for HS256 must have at least 32 bytes");
  }
  const key = await crypto.subtle.importKey("jwk", jwk, IMPORTING[algorithm], false, ["verify"]);
  return { id: jwk.kid, key };
}

function readJson(part: string): Claims | undefined {
  try {
    const bytes = fromBase64Url(part);
    const value: unknown = bytes && JSON.parse(fromUtf8(bytes));
    return typeof value === "object" && value !== null ? (value as Claims) : undefined;
  } catch {
    return undefined;
  }
}

/** The largest difference of clocks in seconds. */
export const LEEWAY = 30;
const SETTINGS: readonly string[] = ["algorithm", "keys", "issuer", "audience", "scope"];
const IMPORTING = {
  ES256: { name: "ECDSA", namedCurve: "P-256" },
  EdDSA: { name: "Ed25519" },
  HS256: { name: "HMAC", hash: "SHA-256" },
  PS256: { name: "RSA-PSS", hash: "SHA-256" },
  RS256: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
};
const VERIFYING = {
  ES256: { name: "ECDSA", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
  HS256: { name: "HMAC" },
  PS256: { name: "RSA-PSS", saltLength: 32 },
  RS256: { name: "RSASSA-PKCS1-v1_5" },
};
