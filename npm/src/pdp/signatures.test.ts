// Signatures of callers. They are taken from bundles, where the command made them.

import { describe, expect, it } from "vitest";

import { allocations } from "../wasm/abi.ts";
import { runtimeNow } from "../wasm/module.ts";
import { verifyBatch, type SignedMessage } from "./signatures.ts";
import { edited, fixture, jwk, releaseKey as release } from "../testing.ts";

const other = jwk("other.pub");
const { message, signature } = signedPart(fixture("trust/signed.bundle"));
const right: SignedMessage = { key: release, message, signature };

describe("verifyBatch", () => {
  it("distinguishes correct signatures from wrong ones, in their order", () => {
    const wrong: readonly SignedMessage[] = [
      { ...right, message: message.subarray(1) },
      { ...right, signature: edited(signature) },
      { ...right, signature: signature.subarray(1) },
      { ...right, signature: new Uint8Array() },
      { ...right, key: other },
      { ...right, context: new Uint8Array(1) },
      { ...right, context: new Uint8Array(256) },
    ];
    expect(verifyBatch([])).toEqual([]);
    expect(verifyBatch(wrong.flatMap((it) => [right, it]))).toEqual(wrong.flatMap(() => [true, false]));
  });

  it("takes keys as bytes, and more of them than stay prepared", () => {
    const { alg, kid, pub } = release;
    const key = { alg, kid, key: new Uint8Array(Buffer.from(pub, "base64url")) };
    const others = Array.from({ length: 20 }, (_, at) => ({ ...right, key: { ...key, key: edited(key.key, at) } }));
    expect(verifyBatch([...others, { ...right, key }])).toEqual([...others.map(() => false), true]);
  });

  it("refuses invalid signatures and keys", () => {
    const check = (given: unknown, message: string): void => {
      expect(() => verifyBatch([given as SignedMessage])).toThrow(message);
    };
    check(7, "signature 0 must be an object, found number");
    check({ ...right, key: undefined }, "the key of signature 0 must be a public key, found undefined");
    check({ ...right, message: "text" }, "the message of signature 0 must be a Uint8Array");
    check({ ...right, kid: "release" }, "unknown member `kid` of signature 0");
    expect(() => verifyBatch(right as unknown as SignedMessage[])).toThrow("signatures must be an array, found object");
  });

  it("allocates nothing in the module after the first signature of a key", () => {
    verifyBatch([right]);
    const before = allocations();
    expect(before).toBeGreaterThan(0);
    expect(verifyBatch(Array.from({ length: 50 }, () => right))).toEqual(Array.from({ length: 50 }, () => true));
    expect(allocations() - before).toBe(0);
    expect(runtimeNow().generation).toBe(0);
  });
});

/**
 * Returns the input of the first signature of a bundle: the Sig_structure of RFC 9052, section 4.4.
 */
function signedPart(bundle: Buffer): { message: Uint8Array; signature: Uint8Array } {
  const id = Buffer.from("release");
  const protectedHeader = Buffer.concat([Buffer.from([0xa2, 1, 0x38, 49, 4, 0x40 | id.length]), id]);
  const purpose = Buffer.from("wardgate bundle v2");
  const at = bundle.indexOf(protectedHeader);
  // The signature follows an empty map: a byte string with a length of two bytes.
  const start = at + protectedHeader.length + 4;
  // The payload follows the tag, the array, an empty byte string and an empty map.
  const payloadAt = 64 + 5;
  const length = bundle[payloadAt + 1]!;
  const payload = bundle.subarray(payloadAt, payloadAt + 2 + length);
  const head = Buffer.concat([Buffer.from([0x85, 0x69]), Buffer.from("Signature"), Buffer.from([0x40])]);
  const header = Buffer.concat([Buffer.from([0x40 | protectedHeader.length]), protectedHeader]);
  const external = Buffer.concat([Buffer.from([0x40 | purpose.length]), purpose]);
  return {
    message: new Uint8Array(Buffer.concat([head, header, external, payload])),
    signature: new Uint8Array(bundle.subarray(start, start + 4627)),
  };
}
