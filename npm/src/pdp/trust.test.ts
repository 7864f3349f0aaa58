// Trust: every refusal by its name, and the bundle in use after it.

import { describe, expect, it } from "vitest";

import type { Code } from "../base/errors.ts";
import type { PublicJwk, SecretJwk } from "./keys.ts";
import { runtimeNow } from "../wasm/module.ts";
import { open, openSync } from "./open.ts";
import type { OpenOptions } from "./options.ts";
import { album, edited, fixture, jwk, noon, ofCode, releaseKey as release, signed, trustFile, viewing } from "../testing.ts";
import type { Trust } from "./terms.ts";

// Made by `cargo xtask test`: signed by `release` as revision 7 of `album`, valid in 2024.
const [both, next, old] = [trustFile("both.bundle"), trustFile("next.bundle"), trustFile("old.bundle")];
const [nextDelta, otherDelta] = [trustFile("next.delta"), trustFile("other.delta")];
const [sealed, sealedDelta] = [trustFile("sealed.bundle"), trustFile("sealed.delta")];
const [audit, other] = [jwk("audit.pub"), jwk("other.pub")];
const [unsealKey, otherHost] = [jwk<SecretJwk>("host"), jwk<SecretJwk>("other-host")];

const settings = { trust: release, clock: () => noon } satisfies OpenOptions;

describe("a bundle", () => {
  it("opens when a trusted key has signed it", async () => {
    const pdp = await open(signed, settings);
    expect(pdp.isAllowed(viewing())).toBe(true);
    const dates = { notBefore: Date.UTC(2024, 0), expires: Date.UTC(2025, 0) };
    expect(pdp.header).toMatchObject({ name: "album", revision: 7, ...dates, evaluation: "strict", signers: ["release"] });
  });

  const cases: readonly (readonly [Code | "opened", Uint8Array, Partial<OpenOptions>])[] = [
    ["opened", both, { trust: { keys: [release, audit, other], atLeast: 2, required: ["audit"] } }],
    ["opened", both, { trust: { keys: [audit] } }],
    ["opened", signed, { trust: "unsigned" }],
    ["opened", signed, { trust: [other, raw(release)], minRevision: 7, name: "album", now: new Date(noon) }],
    ["opened", sealed, { unsealKey }],
    ["not-signed", album, {}],
    ["unknown-signer", signed, { trust: audit }],
    ["unknown-signer", signed, { trust: { ...release, kid: "somebody" } }],
    ["wrong-signature", signed, { trust: changed(release) }],
    ["wrong-signature", both, { trust: [release, changed(audit)] }],
    ["wrong-algorithm", signed, { trust: { ...other, kid: "release" } }],
    ["missing-signer", signed, { trust: { keys: [release, audit], required: ["audit"] } }],
    ["too-few-signers", signed, { trust: { keys: [release, audit], atLeast: 2 } }],
    ["not-yet-valid", signed, { now: Date.UTC(2023, 11, 31) }],
    ["expired", signed, { now: Date.UTC(2025, 0) }],
    ["expired", signed, { trust: "unsigned", now: Date.UTC(2025, 0) }],
    ["expired", signed, { clock: () => Date.UTC(2025, 0) }],
    ["old-revision", signed, { minRevision: 8 }],
    ["wrong-name", signed, { name: "photo" }],
    ["too-large", signed, { maxBytes: 1000 }],
    ["too-large", sealed, { maxBytes: 1000, unsealKey }],
    ["sealed", sealed, {}],
    ["sealed", sealed, { trust: "unsigned" }],
    ["not-sealed", signed, { unsealKey }],
    ["forged", sealed, { unsealKey: otherHost }],
    ["forged", edited(sealed, 200), { unsealKey }],
    ["malformed-seal", edited(sealed, 33), { unsealKey }],
    ["delta", nextDelta, {}],
    ["not-a-bundle", signed.slice(1), {}],
    ["not-a-bundle", new Uint8Array(), {}],
    ["unsupported-version", edited(signed, 8), {}],
    ["unsupported-kind", edited(signed, 13), {}],
    ["wrong-length", signed.slice(0, -1), {}],
    ["wrong-length", edited(signed, 24), {}],
    ["wrong-digest", edited(signed, 40), {}],
    ["wrong-digest", edited(signed, 200), {}],
    ["wrong-digest", edited(signed, signed.length - 1), {}],
  ];
  it.each(cases)("is %s", async (expected, bundle, options) => {
    const opening = open(bundle, { ...settings, ...options });
    if (expected === "opened") (await opening).dispose();
    else await expect(opening).rejects.toEqual(ofCode(expected));
  });

  it("is copied from memory that others share, and is a TypeError where there is none any more", async () => {
    const shared = new Uint8Array(new (SharedArrayBuffer as Growable)(signed.length, { maxByteLength: 2 * signed.length }));
    shared.set(signed);
    const pdp = await open(shared, settings);
    const gone = signed.slice();
    structuredClone(gone, { transfer: [gone.buffer] });
    await expect(open(gone, settings)).rejects.toThrow(TypeError);
    await expect(open(gone.buffer, settings)).rejects.toThrow(TypeError);
    await expect(open(shared.buffer as unknown as ArrayBuffer, settings)).rejects.toThrow("a bundle must be a Uint8Array");
    expect(() => pdp.reload(gone)).toThrow(TypeError);
    expect([pdp.isAllowed(viewing()), runtimeNow().generation]).toEqual([true, 0]);
  });

  it("has a message for each refusal", async () => {
    await expect(open(signed, { ...settings, trust: changed(release) })).rejects.toThrow("the signature of `release` is wrong");
  });
});

describe("reloading", () => {
  const pdp = openSync(signed, settings);

  const refused: readonly (readonly [Code, Uint8Array])[] = [
    ["old-revision", old],
    ["wrong-base", otherDelta],
    ["sealed", sealedDelta],
    ["not-signed", album],
    ["wrong-digest", edited(nextDelta, 200)],
    ["wrong-length", nextDelta.slice(0, -1)],
  ];
  it.each(refused)("refuses a bundle that is %s, and the bundle in use stays", (expected, bundle) => {
    const error = ofCode(expected);
    expect(() => pdp.examine(bundle)).toThrow(error);
    expect(() => pdp.reload(bundle)).toThrow(error);
    expect([pdp.isAllowed(viewing()), pdp.header.revision]).toEqual([true, 7]);
  });

  it("looks at the clock anew", () => {
    const late = { now: Date.UTC(2025, 0) };
    expect(() => pdp.reload(signed, late)).toThrow(ofCode("expired"));
    pdp.reload(signed);
  });

  it("takes a delta for the bundle in use", () => {
    expect([pdp.examine(nextDelta).revision, pdp.header.revision]).toEqual([8, 7]);
    pdp.reload(nextDelta);
    expect([pdp.isAllowed(viewing()), pdp.header.revision]).toEqual([false, 8]);
    expect(() => pdp.reload(signed)).toThrow(ofCode("old-revision"));
    pdp.reload(next);
  });

  it("takes a sealed delta after a sealed bundle", async () => {
    const pdp = await open(sealed, { ...settings, unsealKey });
    pdp.reload(sealedDelta);
    expect(pdp.header.revision).toBe(8);
  });

  it("needs none of its original input, which its owner may have wiped", async () => {
    // A slice of a `Buffer` is not a copy.
    const [bundle, wiped] = [Buffer.from(sealed), Buffer.from(unsealKey.k, "base64url")];
    const pdp = await open(bundle, { ...settings, unsealKey: wiped });
    for (const bytes of [bundle, wiped]) bytes.fill(0);
    pdp.reload(sealedDelta);
    expect(pdp.header.revision).toBe(8);
  });

  it("goes back to no older revision while its clock takes a newer one into use", async () => {
    let meanwhile = (): void => {};
    const clock = (): number => {
      const now = meanwhile;
      meanwhile = () => {};
      now();
      return noon;
    };
    const pdp = await open(old, { ...settings, clock });
    meanwhile = () => pdp.reload(signed);
    expect(() => pdp.reload(old)).toThrow(ofCode("old-revision"));
    expect(pdp.header.revision).toBe(7);
  });

  it("requires the highest revision of all conditions", async () => {
    const pdp = await open(signed, { ...settings, trust: "unsigned", minRevision: 6 });
    const lower = (minRevision: number) => () => pdp.reload(old, { minRevision });
    expect(lower(7)).toThrow(ofCode("old-revision"));
    // For unsigned bundles the revision in use sets no lower limit.
    lower(0)();
    expect(pdp.header.revision).toBe(6);
  });
});

describe("trust", () => {
  const check = async (trust: unknown, error: new () => Error, message: string): Promise<void> => {
    const opening = open(signed, { trust: trust as Trust });
    await expect(opening).rejects.toThrow(error);
    await expect(opening).rejects.toThrow(message);
  };

  it("is never a private key", async () => {
    await check(jwk("release"), RangeError, "the key in `trust` is a private key");
    // Messages do not repeat a key either.
    const text = fixture("trust/release.jwk").toString();
    const thrown: unknown = await open(signed, { trust: text as Trust }).catch((error: unknown) => error);
    expect(String(thrown)).toContain("found another text: parse the file of a key with JSON.parse");
    expect(String(thrown)).not.toContain((JSON.parse(text) as { priv: string }).priv);
    await check(fixture("trust/release.pub.jwk"), TypeError, "the key in `trust` must be a public key, found bytes: parse the file of a key");
  });

  it("is nothing similar to keys", async () => {
    await check(undefined, TypeError, "option `trust` is missing");
    await check([], RangeError, "option `trust` must have 1 to 64 keys, found 0");
    await check(Promise.resolve(release), TypeError, "the key in `trust` must be a public key, found a Promise: await it");
    await check({}, TypeError, "the key in `trust` must be a public key, found an object without members");
    await check([release, 7], TypeError, "key 2 in `trust` must be a public key, found number");
    await check({ ...release, kty: "EC" }, RangeError, '`kty` of the key in `trust` must be "AKP", found "EC"');
    await check({ ...release, alg: "ES256" }, RangeError, 'found "ES256"');
    await check({ ...release, pub: "AAAA" }, RangeError, "the key in `trust` must have 2592 bytes, found 3");
    await check({ ...release, pub: "AA==" }, RangeError, "must be base64url without padding");
    await check({ ...release, kid: "" }, RangeError, "`kid` of the key in `trust` must have 1 to 64 bytes, found 0");
    await check({ ...raw(release), use: "sig" }, TypeError, "unknown member `use` of the key in `trust`");
    await check({ keys: [release], atleast: 2 }, TypeError, "unknown member `atleast` of `trust`");
    await check({ keys: [release], atLeast: 2 }, RangeError, "a whole number from 1 to 1, found 2");
    await check({ keys: [release], atLeast: 0 }, RangeError, "a whole number from 1 to 1, found 0");
    await check({ keys: [release], required: ["audit"] }, RangeError, "the required key `audit` is not among the trusted keys");
    await check([release, release], RangeError, "two trusted keys have the id `release`");
    await check([release, { ...release, kid: "twin" }], RangeError, "the key `twin` is trusted under another id already");
  });
});

describe("other options", () => {
  it("have bounds", async () => {
    const check = async (options: object, message: string): Promise<void> => {
      await expect(open(signed, { ...settings, ...options })).rejects.toThrow(message);
    };
    await check({ minRevision: -1 }, "option `minRevision` must be a whole number from 0");
    await check({ minRevision: 1.5 }, "option `minRevision` must be a whole number");
    await check({ minRevision: "7" }, "option `minRevision` must be a number, found string");
    await check({ now: Number.NaN }, "option `now` must be a time, found none");
    await check({ now: "today" }, "option `now` must be a number or a Date, found string");
    await check({ name: "" }, "option `name` must have 1 to 256 bytes, found 0");
    await check({ unsealKey: new Uint8Array(31) }, "option `unsealKey` must have 32 bytes, found 31");
    await check({ unsealKey: "secret" }, "option `unsealKey` must be a Uint8Array");
    await check({ maxBytes: 2 ** 40 }, "option `maxBytes` must be a whole number from 0 to 268435456");
  });
});

function raw({ alg, kid, pub }: PublicJwk): { alg: PublicJwk["alg"]; kid: string | undefined; key: Uint8Array } {
  return { alg, kid, key: new Uint8Array(Buffer.from(pub, "base64url")) };
}

/** Returns a key that differs in one bit, under the same id. */
function changed(jwk: PublicJwk): PublicJwk {
  const { key } = raw(jwk);
  return { ...jwk, pub: Buffer.from(edited(key, 100)).toString("base64url") };
}

/** The types of this edition lack growable shared memory. */
type Growable = new (length: number, options: { maxByteLength: number }) => SharedArrayBuffer;
