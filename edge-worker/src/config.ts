// Reads the configuration. A missing or wrong value is an error: the worker then refuses every
// request.

import type { OpenOptions, Trust } from "wardgate";
import { isLoopback } from "wardgate/authzen";

import { Authenticator } from "./auth.ts";
import type { Env } from "./env.ts";
import { JwtVerifier } from "./jwt.ts";
import { fromBase64Url, isUrl } from "./text.ts";

/** An error of the configuration, for the operator. */
export class ConfigError extends Error {}

export interface Config {
  readonly authenticator: Authenticator;
  readonly opening: OpenOptions;
  readonly refreshMilliseconds: number;
  readonly pageKey: Uint8Array | undefined;
  /** The configured URL of this PDP. */
  readonly url: string | undefined;
  /** The prefix of the paths of all endpoints: empty, or the path of that URL. */
  readonly basePath: string;
  readonly sample: number;
}

export async function readConfig(env: Env): Promise<Config> {
  const url = readUrl(env.PDP_URL);
  return {
    authenticator: await readAuthenticator(env),
    opening: readOpening(env),
    refreshMilliseconds: 1000 * readNumber("REFRESH_SECONDS", env.REFRESH_SECONDS, { otherwise: 60, most: 86_400 }),
    pageKey: readPageKey(env.PAGE_KEY),
    url,
    basePath: url === undefined ? "" : new URL(url).pathname.replace(/\/+$/, ""),
    sample: readNumber("DECISION_SAMPLE", env.DECISION_SAMPLE, { otherwise: 1, most: 1 }),
  };
}

/**
 * Without a token and without a key for signed tokens every caller would be refused. That is a
 * mistake.
 */
async function readAuthenticator({ AUTH_TOKENS, AUTH_JWT }: Env): Promise<Authenticator> {
  const [tokens, jwt] = [readJson("AUTH_TOKENS", AUTH_TOKENS), readJson("AUTH_JWT", AUTH_JWT)];
  if (tokens === undefined && jwt === undefined) throw new ConfigError("set AUTH_TOKENS or AUTH_JWT");
  const verifier = jwt === undefined ? undefined : await JwtVerifier.create(jwt);
  return Authenticator.create(readTokens(tokens), verifier);
}

function readTokens(tokens: unknown): ReadonlyMap<string, string> {
  if (tokens === undefined) return new Map();
  if (typeof tokens !== "object" || tokens === null || Array.isArray(tokens)) {
    throw new ConfigError("AUTH_TOKENS must be a JSON object of callers and their tokens");
  }
  return new Map(Object.entries(tokens).map(([caller, token]: [string, unknown]) => {
    if (typeof token === "string" && TOKEN.test(token)) return [caller, token];
    throw new ConfigError(`the token of \`${caller}\` in AUTH_TOKENS must be 16 or more letters, digits and -._~+/=`);
  }));
}

function readOpening(env: Env): OpenOptions {
  const trust = readJson("TRUSTED_KEYS", env.TRUSTED_KEYS);
  if (trust === undefined || trust === "unsigned") {
    throw new ConfigError("set TRUSTED_KEYS to the public keys that bundles are signed with");
  }
  const unsealKey = readJson("UNSEAL_KEY", env.UNSEAL_KEY) as OpenOptions["unsealKey"];
  const minRevision = readNumber("MIN_REVISION", env.MIN_REVISION, { otherwise: 0, most: Number.MAX_SAFE_INTEGER });
  return {
    trust: trust as Trust,
    maxBytes: MAX_BUNDLE_BYTES,
    minRevision,
    afterExpiry: readAfterExpiry(env.AFTER_EXPIRY),
    ...(env.BUNDLE_NAME !== undefined && { name: env.BUNDLE_NAME }),
    ...(unsealKey !== undefined && { unsealKey }),
  };
}

function readAfterExpiry(word: string | undefined): "deny" | "decide" {
  if (word === undefined || word === "deny") return "deny";
  if (word === "decide") return word;
  throw new ConfigError("AFTER_EXPIRY must be `deny` or `decide`");
}

function readPageKey(text: string | undefined): Uint8Array | undefined {
  if (text === undefined) return undefined;
  const key = fromBase64Url(text);
  if (key === undefined || key.length < 32) throw new ConfigError("PAGE_KEY must be at least 32 bytes in base64url");
  return key;
}

function readUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (!isUrl(text) || /[?#]/.test(text)) throw new ConfigError("PDP_URL must be a URL without query and fragment");
  const { protocol, hostname } = new URL(text);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback(hostname))) {
    throw new ConfigError("PDP_URL must begin with https:");
  }
  return text.replace(/\/+$/, "");
}

export function readNumber(name: string, value: unknown, { otherwise, most }: { otherwise: number; most: number }): number {
  if (value === undefined) return otherwise;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number === "number" && number >= 0 && number <= most) return number;
  throw new ConfigError(`${name} must be a number from 0 to ${most}`);
}

/** A variable may be JSON already; a secret is always text. */
export function readJson(name: string, value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new ConfigError(`${name} must be JSON`);
  }
}

/** The largest size of a bundle in bytes. */
export const MAX_BUNDLE_BYTES = 16 * 2 ** 20;
/** The characters of the header (RFC 6750), at a length that cannot be guessed. */
const TOKEN = /^[\w~+/.=-]{16,}$/;
