// BLAKE3 for callers: the digest of bundles.

import { hashAll, hashOne } from "../wasm/abi.ts";
import { describe, mustBeBytes } from "../base/describe.ts";
import { runtimeNow } from "../wasm/module.ts";

/**
 * Returns the BLAKE3 digest of `message`: 32 bytes. The first call of the package loads the module.
 *
 * @throws TypeError if the message is not bytes.
 *
 * @example
 *     const digest = hash(new TextEncoder().encode("album"));
 */
export function hash(message: Uint8Array | ArrayBuffer): Uint8Array {
  const bytes = mustBeBytes(message, "a message");
  return runtimeNow().call(() => hashOne(bytes));
}

/**
 * Returns the digest of each message, in their order. Many short messages are hashed side by side,
 * which is faster than one after the other.
 *
 * @throws TypeError if the messages are not a list of bytes.
 */
export function hashMany(messages: readonly (Uint8Array | ArrayBuffer)[]): Uint8Array[] {
  if (!Array.isArray(messages)) throw new TypeError(`messages must be an array, found ${describe(messages)}`);
  const all = Array.from<unknown, Uint8Array>(messages, (message, at) => mustBeBytes(message, `message ${at}`));
  return runtimeNow().call(() => hashAll(all));
}
