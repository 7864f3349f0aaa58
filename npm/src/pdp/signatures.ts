// Verifies ML-DSA signatures of callers, with the code for bundles.

import { prepareKey, verifyOne } from "../wasm/abi.ts";
import { describe, membersOf, mustBeBytes } from "../base/describe.ts";
import { readPublicKey, type PublicKey, type ReadKey } from "./keys.ts";
import { runtimeNow } from "../wasm/module.ts";

/** A signature to verify, with its message. */
export interface SignedMessage {
  /** The key of the claimed signer. Bytes are read faster than a JSON Web Key. */
  readonly key: PublicKey;
  /** The message under the signature. */
  readonly message: Uint8Array;
  /** The bytes of the signature. */
  readonly signature: Uint8Array;
  /** The context of FIPS 204, at most 255 bytes. Default: empty. */
  readonly context?: Uint8Array | undefined;
}

/**
 * Verifies each signature, and returns `true` for each correct one. A malformed signature is
 * `false`. A key is prepared on its first use; the keys that were used last stay prepared, and a
 * verification with them allocates no memory in the module.
 *
 * @throws TypeError if a value has the wrong kind.
 * @throws RangeError if a key is not a public key of its algorithm.
 *
 * @example
 *     const [isGenuine] = verifyBatch([{ key: release, message, signature }]);
 */
export function verifyBatch(signatures: readonly SignedMessage[]): boolean[] {
  if (!Array.isArray(signatures)) {
    throw new TypeError(`signatures must be an array, found ${describe(signatures)}`);
  }
  const keys = new Map<unknown, ReadKey>();
  const all = Array.from<unknown, SignatureCheck>(signatures, (signature, at) => readSigned(signature, at, keys));
  return runtimeNow().call(() => {
    let prepared: ReadKey | undefined;
    let index = -1;
    return all.map((check) => {
      if (check.key !== prepared) {
        index = prepareKey(check.key.level, check.key.key);
        prepared = check.key;
      }
      return verifyOne(index, check.message, check.context, check.signature);
    });
  });
}

interface SignatureCheck {
  readonly key: ReadKey;
  readonly message: Uint8Array;
  readonly context: Uint8Array;
  readonly signature: Uint8Array;
}

/** Reads one signature. A key that several signatures share is read once. */
function readSigned(signed: unknown, at: number, keys: Map<unknown, ReadKey>): SignatureCheck {
  const members = membersOf(signed);
  if (members === undefined) throw new TypeError(`signature ${at} must be an object, found ${describe(signed)}`);
  for (const name of members.keys()) {
    if (!KNOWN.includes(name)) {
      throw new TypeError(`unknown member \`${name}\` of signature ${at}, expected one of ${KNOWN.join(", ")}`);
    }
  }
  const given = members.get("key");
  const key = keys.get(given) ?? readPublicKey(given, `the key of signature ${at}`);
  keys.set(given, key);
  const context = members.get("context");
  return {
    key,
    message: mustBeBytes(members.get("message"), `the message of signature ${at}`),
    context: context === undefined ? NONE : mustBeBytes(context, `the context of signature ${at}`),
    signature: mustBeBytes(members.get("signature"), `the bytes of signature ${at}`),
  };
}

const KNOWN: readonly string[] = ["key", "message", "signature", "context"];
const NONE = new Uint8Array();
