// ML-DSA signatures beside those of bundles, checked by the same code.

import { prepareKey, verifyOne } from "../wasm/abi.ts";
import { describe, membersOf, mustBeBytes } from "../base/describe.ts";
import { readPublicKey, type PublicKey, type ReadKey } from "./keys.ts";
import { runtimeNow } from "../wasm/module.ts";

/** A signature, and what it is said to sign. */
export interface SignedMessage {
  /** The key that is said to have signed. Bytes are read quicker than a JSON Web Key. */
  readonly key: PublicKey;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
  /** The context of FIPS 204, at most 255 bytes; none unless given. */
  readonly context?: Uint8Array | undefined;
}

/**
 * Verifies each signature, and returns `true` in the place of those that are right. Whatever is malformed
 * about a signature is `false`. A key is prepared when it comes for the first time; the keys that were used
 * last stay prepared, and then a verification allocates no memory in the module.
 *
 * @throws TypeError for values of the wrong kind.
 * @throws RangeError for what is no public key of its algorithm.
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

/** Reads one question. A key that several questions share is read once. */
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
