// Reads keys: JSON Web Keys (RFC 7517, RFC 9964) as `wardgate keys` writes them, and bytes.
//
// A private key is refused if a public key is enough: a host must not have it.

import { bytesOf, copyOf, describe, isPromise, membersOf, mustBeBytes } from "../base/describe.ts";
import { bytesOfBinary } from "../base/text.ts";

/** The ML-DSA parameter set of a key (FIPS 204). Wardgate creates keys of ML-DSA-87. */
export type Algorithm = "ML-DSA-44" | "ML-DSA-65" | "ML-DSA-87";

/** A public key as `wardgate keys public` prints it. Other members are ignored. */
export interface PublicJwk {
  /** The key type of ML-DSA keys (RFC 9964). */
  readonly kty: "AKP";
  /** The ML-DSA parameter set. */
  readonly alg: Algorithm;
  /** The key in base64url. */
  readonly pub: string;
  /** The name of the key in signatures. Default: the name that is derived from the key. */
  readonly kid?: string | undefined;
  readonly [member: string]: unknown;
}

/** A public key as bytes. */
export interface RawKey {
  /** The ML-DSA parameter set. */
  readonly alg: Algorithm;
  /** The bytes of the key. */
  readonly key: Uint8Array;
  /** The name of the key in signatures. Default: the name that is derived from the key. */
  readonly kid?: string | undefined;
}

/** The public key of a signer. */
export type PublicKey = PublicJwk | RawKey;

/** A sealing key, as `wardgate keys generate --for sealing` writes it. */
export interface SecretJwk {
  /** The key type of symmetric keys (RFC 7517). */
  readonly kty: "oct";
  /** The 32 bytes in base64url. */
  readonly k: string;
  readonly [member: string]: unknown;
}

/** A public key, checked. */
export interface ReadKey {
  readonly level: Level;
  /** The name; empty if it is derived from the key. */
  readonly id: Uint8Array;
  readonly key: Uint8Array;
}

/** The number in the name of the algorithm. */
export type Level = 44 | 65 | 87;

/** Reads a public key; `where` names it in messages. */
export function readPublicKey(given: unknown, where: string): ReadKey {
  const members = ArrayBuffer.isView(given) ? undefined : membersOf(given);
  if (members === undefined || members.size === 0) throw new TypeError(`${where} must be a public key, found ${otherThanKey(given)}`);
  const key = members.has("kty") ? jwkBytes(members, where) : rawBytes(members, where);
  const level = readLevel(members.get("alg"), where);
  if (key.length !== KEY_BYTES[level]) {
    throw new RangeError(`${where} must have ${KEY_BYTES[level]} bytes, found ${key.length}`);
  }
  const kid = members.get("kid");
  return { level, id: kid === undefined ? NONE : readId(kid, `\`kid\` of ${where}`), key };
}

/** Reads the key for sealed bundles. */
export function readSecret(given: unknown): Uint8Array {
  const members = membersOf(given);
  const bytes = members?.get("kty") === "oct" ? base64(members.get("k"), "`k` of `unsealKey`") : bytesOf(given);
  if (bytes === undefined) {
    const expected = "a Uint8Array, or the key that `wardgate keys generate --for sealing` wrote";
    throw new TypeError(`option \`unsealKey\` must be ${expected}, found ${describe(given)}`);
  }
  if (bytes.length !== SECRET_BYTES) {
    throw new RangeError(`option \`unsealKey\` must have ${SECRET_BYTES} bytes, found ${bytes.length}`);
  }
  return copyOf(bytes);
}

/** Reads the name of a key. */
export function readId(id: unknown, where: string): Uint8Array {
  if (typeof id !== "string") throw new TypeError(`${where} must be a string, found ${describe(id)}`);
  const bytes = new TextEncoder().encode(id);
  if (bytes.length === 0 || bytes.length > MAX_ID_BYTES) {
    throw new RangeError(`${where} must have 1 to ${MAX_ID_BYTES} bytes, found ${bytes.length}`);
  }
  return bytes;
}

/** Returns the words for a value that is no key, with the mistake that it shows. */
function otherThanKey(given: unknown): string {
  if (ArrayBuffer.isView(given)) return "bytes: parse the file of a key with JSON.parse";
  if (isPromise(given)) return "a Promise: await it, and parse the file of a key with JSON.parse";
  const kind = describe(given);
  return kind === "object" ? "an object without members" : kind;
}

function readLevel(alg: unknown, where: string): Level {
  const level = LEVELS.get(alg);
  if (level === undefined) {
    const found = typeof alg === "string" ? JSON.stringify(alg) : describe(alg);
    throw new RangeError(`\`alg\` of ${where} must be one of ${[...LEVELS.keys()].join(", ")}, found ${found}`);
  }
  return level;
}

function jwkBytes(jwk: ReadonlyMap<string, unknown>, where: string): Uint8Array {
  if (jwk.get("kty") !== "AKP") {
    throw new RangeError(`\`kty\` of ${where} must be "AKP", found ${JSON.stringify(jwk.get("kty"))}`);
  }
  if (jwk.has("priv")) {
    throw new RangeError(`${where} is a private key: keep it where you sign, and give its public half here`);
  }
  return base64(jwk.get("pub"), `\`pub\` of ${where}`);
}

function rawBytes(members: ReadonlyMap<string, unknown>, where: string): Uint8Array {
  for (const name of members.keys()) {
    if (!RAW.includes(name)) {
      throw new TypeError(`unknown member \`${name}\` of ${where}, expected ${RAW.join(", ")}`);
    }
  }
  return copyOf(mustBeBytes(members.get("key"), `\`key\` of ${where}`));
}

function base64(text: unknown, where: string): Uint8Array {
  if (typeof text !== "string") throw new TypeError(`${where} must be a string, found ${describe(text)}`);
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) throw new RangeError(`${where} must be base64url without padding`);
  return bytesOfBinary(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
}

const LEVELS: ReadonlyMap<unknown, Level> = new Map<unknown, Level>([
  ["ML-DSA-44", 44],
  ["ML-DSA-65", 65],
  ["ML-DSA-87", 87],
]);
const KEY_BYTES = { 44: 1312, 65: 1952, 87: 2592 } as const;
const SECRET_BYTES = 32;
const MAX_ID_BYTES = 64;
const RAW: readonly string[] = ["alg", "key", "kid"];
const NONE = new Uint8Array();
