// Decisions that are made again from a segment. `cargo xtask parity` asks every runtime the same about many.

import { describe, expect, it } from "vitest";

import { album, atNoon, closed, noon, ofCode, openAlbum, releaseKey, signed, viewing } from "../testing.ts";
import { FAST_PATHS } from "../pdp/recording.ts";
import { open } from "../pdp/open.ts";
import type { Pdp } from "../pdp/types.ts";
import type { FastPaths } from "../fast/fast-paths.ts";
import { loadLog, logInstance } from "./log-module.ts";
import { decisionLog, replay, segmentStart, type ReplayedOutcome, type ReplayOptions } from "./log.ts";

/** Writes bytes as records have them. */
class Bytes {
  readonly #bytes: number[] = [];

  raw(...bytes: readonly number[]): this {
    this.#bytes.push(...bytes);
    return this;
  }

  number(value: number, bytes: number): this {
    for (let at = 0; at < bytes; at += 1) this.#bytes.push(Math.floor(value / 256 ** at) % 256);
    return this;
  }

  text(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.number(bytes.length, 2).raw(...bytes);
  }

  /** Writes a value of an evidence: a text or the end of a list. */
  value(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.raw(5).number(bytes.length, 4).raw(...bytes);
  }

  get all(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

interface Recorded {
  readonly evidence?: Uint8Array;
  /** The form of the evidence. */
  readonly form?: number;
  readonly answer?: number;
  readonly flags?: number;
  readonly time?: number;
  readonly action?: string;
}

/** Returns a segment with one decision on an album. */
async function segmentOf(pdp: Pdp, { evidence, form = 0, answer = 1, flags = 0, time = noon, action = "view" }: Recorded): Promise<Uint8Array> {
  const record = (kind: number, bits: number, sequence: number, body: Uint8Array): Uint8Array =>
    new Bytes().raw(kind, bits).number(12 + body.length, 2).number(kind === 1 ? 1 : 0, 2).number(0, 2).number(sequence, 4).raw(...body).all;
  const root = Buffer.from(pdp.header.content, "hex");
  const policies = new Bytes().number(time * 1000, 8).number(1, 4).number(0, 8).raw(...root).text("").all;
  const target = new Bytes().number(1, 4).number(0, 4).text("album").text("").text("").text(action).all;
  const decision = new Bytes().number(time * 1000, 8).number(1, 4).raw(1).number(answer, 4).raw(1).text("ada").raw(1).text("a1");
  if (evidence !== undefined) decision.number(evidence.length, 2).raw(...evidence);
  await loadLog(undefined);
  const records = [record(2, 0, 0, policies), record(3, 0, 1, target), record(1, flags | (form << 4), 0, decision.all)];
  const frame = logInstance().write(new Uint8Array(32), 0, Buffer.concat(records), 0).slice(32);
  return Buffer.concat([segmentStart(), frame]);
}

async function outcomeOf(segment: Uint8Array, options: Partial<ReplayOptions> = {}): Promise<ReplayedOutcome> {
  const found: ReplayedOutcome[] = [];
  for await (const { outcomes } of replay(segment, { bundles: [album], trust: "unsigned", ...options })) found.push(...outcomes);
  expect(found.length).toBe(1);
  return found[0]!;
}

/** Returns what the fast path of an action on albums reads: these roles, and no value in any slot. */
function evidenceOf(pdp: Pdp, action: string, roles: readonly (string | undefined)[]): Uint8Array {
  pdp.isAllowed(viewing({ request: { action } }));
  const fastPaths = (pdp as unknown as { [FAST_PATHS]: FastPaths })[FAST_PATHS];
  const { id, slots } = fastPaths.kinds.miss(fastPaths, "album")!.miss(action)!;
  const part = new Bytes().raw(1).number(id, 4).raw(7);
  for (const role of roles) if (role === undefined) part.raw(1); else part.value(role);
  part.raw(9).raw(...slots.map(() => 1));
  return new Bytes().number(part.all.length, 2).raw(...part.all).all;
}

/** Returns a request as an evidence. */
function requestOf(actions: readonly string[], roles: readonly string[]): Uint8Array {
  const list = (bytes: Bytes, texts: readonly string[]): Bytes => texts.reduce((all, text) => all.value(text), bytes.raw(7)).raw(9);
  const bytes = list(new Bytes(), actions).value("ada").value("").value("");
  list(bytes, roles).raw(8, 9).value("album").value("").value("a1").value("").raw(8, 9);
  return bytes.raw(8, 9, 8, 9).all;
}

describe("replay", () => {
  it("gives the recorded answer again, from what was read and from the request", async () => {
    const pdp = await openAlbum();
    const evidence = evidenceOf(pdp, "view", ["user"]);
    const target = { kind: "target", action: "view", resourceKind: "album" };
    const same = { kind: "same", answer: "allowed", isAllowed: true, target };
    expect(await outcomeOf(await segmentOf(pdp, { evidence, form: 1 }))).toMatchObject(same);
    expect(await outcomeOf(await segmentOf(pdp, { evidence: requestOf(["view"], ["user"]), form: 2 }))).toMatchObject(same);
    // A rate limit denies what the policies allow.
    expect(await outcomeOf(await segmentOf(pdp, { evidence, form: 1, answer: 2 }))).toMatchObject({ kind: "same", answer: "limited", isAllowed: true });
  });

  it("tells an answer that is another one", async () => {
    const pdp = await openAlbum();
    const different = { kind: "different", answer: "allowed", isAllowed: false };
    expect(await outcomeOf(await segmentOf(pdp, { evidence: evidenceOf(pdp, "view", [undefined]), form: 1 }))).toMatchObject(different);
    expect(await outcomeOf(await segmentOf(pdp, { evidence: requestOf(["view"], ["stranger"]), form: 2 }))).toMatchObject(different);
  });

  it("tells what another bundle would have answered, or that it is not known", async () => {
    const pdp = await openAlbum();
    const denied = { kind: "different", answer: "allowed", isAllowed: false };
    for (const [evidence, form] of [[evidenceOf(pdp, "view", ["user"]), 1], [requestOf(["view"], ["user"]), 2]] as const) {
      expect(await outcomeOf(await segmentOf(pdp, { evidence, form }), { with: closed })).toMatchObject(denied);
    }
    // A request says all, so the bundle of then is not needed.
    const request = await segmentOf(pdp, { evidence: requestOf(["view"], ["user"]), form: 2 });
    expect(await outcomeOf(request, { bundles: [], with: closed })).toMatchObject(denied);
  });

  it.each<[string, Recorded, Partial<ReplayOptions>]>([
    ["no-evidence", {}, {}],
    ["too-large", { flags: 8 }, {}],
    ["no-policies", { evidence: Uint8Array.of(0, 0), form: 1 }, { bundles: [closed] }],
    ["unreadable", { evidence: Uint8Array.of(0, 0), form: 1 }, {}],
    ["unreadable", { evidence: Uint8Array.of(4, 0, 1, 255, 255, 255), form: 1 }, {}],
    ["unreadable", { evidence: requestOf(["edit"], ["user"]), form: 2 }, {}],
    ["unreadable", { evidence: requestOf(["view"], ["user"]).subarray(0, 20), form: 2 }, {}],
  ])("gives no answer where the evidence gives none: %s", async (why, recorded, options) => {
    expect(await outcomeOf(await segmentOf(await openAlbum(), recorded), options)).toMatchObject({ kind: "not-replayed", why });
  });

  it("gives no answer by a part of an evidence, or by that of another action", async () => {
    const pdp = await openAlbum();
    const evidence = evidenceOf(pdp, "view", ["user"]);
    for (let length = 0; length < evidence.length; length += 1) {
      const segment = await segmentOf(pdp, { evidence: evidence.subarray(0, length), form: 1 });
      expect(await outcomeOf(segment), `${length} bytes`).toMatchObject({ kind: "not-replayed", why: "unreadable" });
    }
    expect(await outcomeOf(await segmentOf(pdp, { evidence, form: 1, action: "edit" }))).toMatchObject({ why: "unreadable" });
  });

  it("decides at the time of the record, and gives no answer where it changes within a millisecond", async () => {
    const pdp = await openAlbum();
    const midnight = Date.UTC(2024, 4, 7);
    const whole = requestOf(["share"], ["user"]);
    for (const [evidence, form] of [[evidenceOf(pdp, "share", ["user"]), 1], [whole, 2]] as const) {
      const at = async (time: number): Promise<ReplayedOutcome> => outcomeOf(await segmentOf(pdp, { evidence, form, action: "share", time }));
      expect([await at(midnight - 0.5), await at(midnight - 1.5), await at(midnight)]).toMatchObject([{ why: "time" }, { isAllowed: true }, { isAllowed: false }]);
    }
  });

  it("opens a signed bundle at the time when its policies came into force", async () => {
    const pdp = await open(signed, { trust: releaseKey, clock: () => noon });
    const segment = await segmentOf(pdp, { evidence: requestOf(["view"], ["user"]), form: 2 });
    expect(await outcomeOf(segment, { bundles: [signed], trust: releaseKey })).toMatchObject({ kind: "same" });
    await expect(outcomeOf(segment, { bundles: [album], trust: releaseKey })).rejects.toThrow(ofCode("not-signed"));
    const tooLate = await segmentOf(pdp, { evidence: requestOf(["view"], ["user"]), form: 2, time: Date.UTC(2039, 0) });
    expect(await outcomeOf(tooLate, { bundles: [signed], trust: releaseKey })).toMatchObject({ why: "no-policies" });
  });

  it("needs policies that the segment names, and a segment", async () => {
    const frames: Uint8Array[] = [segmentStart()];
    const log = decisionLog({ sink: (frame) => void frames.push(frame), flushMillis: 0 });
    const pdp = await open(album, { ...atNoon, log });
    pdp.isAllowed(viewing());
    await log.flush();
    expect(await outcomeOf(Buffer.concat(frames))).toMatchObject({ kind: "not-replayed", why: "no-evidence", answer: "allowed" });
    await expect(outcomeOf(Uint8Array.of(1, 2, 3))).rejects.toThrow(ofCode("malformed-log"));
  });

  it.each<[string, unknown]>([
    ["options must be an object, found null", null],
    ["unknown option `bundle`, did you mean `bundles`?", { bundle: album }],
    ["option `bundles` must be a list, found object", { bundles: album, trust: "unsigned" }],
    ["a bundle must be a Uint8Array or an ArrayBuffer, found string", { bundles: ["album.bundle"], trust: "unsigned" }],
    ["option `withTrust` is for the option `with`", { bundles: [], trust: "unsigned", withTrust: "unsigned" }],
  ])("refuses wrong options: %s", async (message, options) => {
    const segment = await segmentOf(await openAlbum(), {});
    await expect(replay(segment, options as ReplayOptions).next()).rejects.toThrow(new TypeError(message));
  });
});
