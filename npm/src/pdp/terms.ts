// Writes the conditions of a caller for a bundle, as the bytes that `crates/bundle/src/terms.rs`
// reads. Its module doc has the layout.

import { describe, membersOf } from "../base/describe.ts";
import { expected } from "../base/nearest.ts";
import { readId, readPublicKey, type PublicKey, type ReadKey } from "./keys.ts";

/**
 * Trusted keys, and the number of them that must have signed. A JSON Web Key Set has this form too.
 */
export interface TrustedKeys {
  readonly keys: readonly PublicKey[];
  /** The number of keys that must have signed. Default: 1. */
  readonly atLeast?: number | undefined;
  /** The `kid` of each key that must be among the signers. */
  readonly required?: readonly string[] | undefined;
}

/**
 * The keys whose bundles may be opened. A bundle needs a signature by one of them, or by as many as
 * `atLeast`. A wrong signature in the name of one of the keys refuses the bundle, even if the other
 * signatures are enough.
 *
 * `"unsigned"` accepts every bundle with a correct digest. Then the writer of the bytes decides
 * what is allowed, so the bytes must come from a place that is trusted like code.
 */
export type Trust = "unsigned" | PublicKey | readonly PublicKey[] | TrustedKeys;

/** The conditions for a bundle, apart from time and revision. */
export interface AcceptanceTerms {
  readonly trust: unknown;
  readonly name: unknown;
  readonly maxBytes: number;
  readonly decidesAfterExpiry: boolean;
  readonly enforcesLimits: boolean;
}

/** Returns true if these terms accept unsigned bundles. */
export function isUnsigned(trust: unknown): trust is "unsigned" {
  return trust === "unsigned";
}

/** Returns the terms as bytes. */
export function writeTerms({ trust, name, maxBytes, decidesAfterExpiry, enforcesLimits }: AcceptanceTerms): Uint8Array {
  const { keys, atLeast, required } = readTrust(trust);
  const called = readName(name);
  const flags = (decidesAfterExpiry ? 1 : 0) + (enforcesLimits ? 2 : 0);
  const pieces = [
    number(4, maxBytes),
    number(2, called.length),
    called,
    Uint8Array.of(atLeast, keys.length, required.length),
    ...keys.flatMap(({ level, id, key }) => [Uint8Array.of(level, id.length), number(2, key.length), id, key]),
    ...required.flatMap((id) => [Uint8Array.of(id.length), id]),
    Uint8Array.from(flags === 0 ? [] : [flags]),
  ];
  return joined(pieces);
}

/** Returns the error for a missing `trust`, with the code `no-trust`. */
export function withoutTrust(): TypeError {
  const advice = 'give the keys that bundles are signed with, or `{ trust: "unsigned" }` for unsigned bundles';
  return Object.assign(new TypeError(`option \`trust\` is missing: ${advice}`), { code: "no-trust" as const });
}

interface ReadTrust {
  readonly keys: readonly ReadKey[];
  readonly atLeast: number;
  readonly required: readonly Uint8Array[];
}

function readTrust(trust: unknown): ReadTrust {
  if (isUnsigned(trust)) return { keys: [], atLeast: 0, required: [] };
  if (trust === undefined) {
    throw withoutTrust();
  }
  if (typeof trust === "string") {
    // The text is not repeated: it may be a key, even a private one.
    throw new RangeError('option `trust` must be keys or "unsigned", found another text: parse the file of a key with JSON.parse');
  }
  if (Array.isArray(trust)) return { keys: readKeys(trust), atLeast: 1, required: [] };
  const members = membersOf(trust);
  if (members === undefined) {
    throw new TypeError(`option \`trust\` must be keys or "unsigned", found ${describe(trust)}`);
  }
  return members.has("keys") ? readSet(members) : { keys: readKeys([trust]), atLeast: 1, required: [] };
}

function readSet(members: ReadonlyMap<string, unknown>): ReadTrust {
  for (const name of members.keys()) {
    if (!SET.includes(name)) {
      throw new TypeError(`unknown member \`${name}\` of \`trust\`${expected(name, SET)}`);
    }
  }
  const keys = readKeys(members.get("keys"));
  const required = members.get("required") ?? [];
  if (!Array.isArray(required)) {
    throw new TypeError(`\`required\` of \`trust\` must be an array, found ${describe(required)}`);
  }
  const ids = Array.from<unknown, Uint8Array>(required, (id) => readId(id, "a name in `required` of `trust`"));
  if (ids.length > MAX_KEYS) throw new RangeError(`\`required\` of \`trust\` names more than ${MAX_KEYS} keys`);
  return { keys, atLeast: readCount(members.get("atLeast"), keys.length), required: ids };
}

function readKeys(keys: unknown): ReadKey[] {
  if (!Array.isArray(keys)) throw new TypeError(`\`keys\` of \`trust\` must be an array, found ${describe(keys)}`);
  if (keys.length === 0 || keys.length > MAX_KEYS) {
    throw new RangeError(`option \`trust\` must have 1 to ${MAX_KEYS} keys, found ${keys.length}`);
  }
  return Array.from<unknown, ReadKey>(keys, (key, at) =>
    readPublicKey(key, keys.length === 1 ? "the key in `trust`" : `key ${at + 1} in \`trust\``),
  );
}

function readCount(count: unknown, keys: number): number {
  if (count === undefined) return 1;
  if (typeof count !== "number") throw new TypeError(`\`atLeast\` must be a number, found ${describe(count)}`);
  if (!Number.isInteger(count) || count < 1 || count > keys) {
    throw new RangeError(`\`atLeast\` of \`trust\` must be a whole number from 1 to ${keys}, found ${count}`);
  }
  return count;
}

function readName(name: unknown): Uint8Array {
  if (name === undefined) return new Uint8Array();
  if (typeof name !== "string") throw new TypeError(`option \`name\` must be a string, found ${describe(name)}`);
  const bytes = new TextEncoder().encode(name);
  if (bytes.length === 0 || bytes.length > MAX_NAME_BYTES) {
    throw new RangeError(`option \`name\` must have 1 to ${MAX_NAME_BYTES} bytes, found ${bytes.length}`);
  }
  return bytes;
}

/** Returns a whole number in little-endian order. */
function number(bytes: number, value: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => Math.floor(value / 256 ** at) % 256);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const MAX_KEYS = 64;
const MAX_NAME_BYTES = 256;
const SET: readonly string[] = ["keys", "atLeast", "required"];
