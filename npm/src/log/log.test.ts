// Proofs and segments of the small log in `tests/decision-log`, which programs of others verify too.

import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { edited, ofCode } from "../testing.ts";
import { openSegment, verifyProof, type LogRecord, type WardgateError } from "./log.ts";

const file = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(new URL(`../../../tests/decision-log/${name}`, import.meta.url)));
const text = (name: string): string => new TextDecoder().decode(file(name));
const [proof, key, segment] = [text("last.tlog-proof"), text("key.vkey"), file("records.wgl")];
const parts = { stream: 2, caller: 3 };
const time = 1_790_000_000_123.456;

describe("a proof", () => {
  it("gives the record, its number, and the checkpoint", async () => {
    const proved = await verifyProof(proof, key);
    expect(proved).toMatchObject({
      record: { kind: "clock", stream: 1, caller: 0, sequence: 2, time: 2.992, before: 2.993 },
      number: 449,
      frame: 299,
      checkpoint: { origin: "log.example/wardgate", size: 300, time: 1_790_000_300_000 },
    });
    expect(proved.checkpoint.root).toHaveLength(32);
    expect(await verifyProof(file("last.tlog-proof").buffer, key.trim())).toEqual(proved);
    expect(await verifyProof(file("first.tlog-proof"), key)).toMatchObject({ number: 0, frame: 1 });
  });

  it("is refused if any character of it is changed", async () => {
    const bytes = file("last.tlog-proof");
    const steps = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => at * 7);
    for (const at of steps) await expect(verifyProof(edited(bytes, at), key)).rejects.toEqual(ofCode("refused-proof"));
  });

  it("is refused by another key, and a text that is no key is an error of its own", async () => {
    for (const other of ["", "name", "name+00000000+AAAA", key.replace("log.example", "lag.example"), "x".repeat(3_000_000)]) {
      await expect(verifyProof(proof, other)).rejects.toEqual(ofCode("malformed-key"));
    }
    // A key of the same algorithm, whose id fits.
    await expect(verifyProof(proof.replace(/\n— [^]*$/, "\n— log.example/wardgate AAAAAAAA\n"), key)).rejects.toThrow("did not sign");
  });

  it("that is none is an error by its kind", async () => {
    for (const none of [undefined, null, 1, {}, [proof], Symbol("proof")]) {
      await expect(verifyProof(none as never, key)).rejects.toThrow(TypeError);
      await expect(verifyProof(proof, none as never)).rejects.toThrow(TypeError);
    }
    for (const none of ["", "\n\n", proof.slice(0, 900), "x".repeat(5_000_000), "\u{d800}", new Uint8Array(4_000_000), new ArrayBuffer(9)]) {
      await expect(verifyProof(none, key)).rejects.toEqual(ofCode("refused-proof"));
    }
  });
});

describe("a segment", () => {
  it("has its frames", async () => {
    const frames = [...(await openSegment(segment)).frames()];
    expect(frames).toMatchObject([
      { offset: 16, first: 5, count: 10, durable: 0, lowest: time, highest: time },
      { first: 15, count: 8, durable: 5, lowest: time, highest: time },
    ]);
    expect([frames[0]!.before, frames[1]!.before]).toEqual([new Uint8Array(32), frames[0]!.digest]);
    expect(frames.map(({ records }) => [...records].length)).toEqual([10, 8]);
  });

  it("has records of each kind", async () => {
    const read = [...(await openSegment(segment.buffer)).records()];
    expect(read.map(([number]) => number)).toEqual(Array.from({ length: 18 }, (_, at) => 5 + at));
    const instance = new Uint8Array(16).fill(7);
    expect(read.slice(0, 10).map(([, record]) => record)).toEqual([
      { kind: "process", ...parts, sequence: 0, time, event: "started", instance, version: "1.2.3" },
      { kind: "settings", ...parts, sequence: 1, time, text: "all of it" },
      { kind: "policies", ...parts, sequence: 2, time, number: 1, revision: 9, root: new Uint8Array(32).fill(8), name: "albums" },
      { kind: "target", ...parts, sequence: 3, policies: 1, number: 4, resourceKind: "album", policyVersion: "default", scope: "acme.é", action: "view" },
      { kind: "lost", ...parts, sequence: 4, time, ofStream: 2, first: 6, count: 2 ** 40, reason: "full" },
      { kind: "clock", ...parts, sequence: 5, time: -0.001, before: time },
      { kind: "erasure", ...parts, sequence: 6, time, keys: 2 },
      { kind: "search", ...parts, sequence: 7, time, policies: 1, target: 4, asked: 100, allowed: 17 },
      { kind: "loss", ...parts, sequence: 8, time, frames: 10, found: 8, reason: "the disk" },
      { kind: "process", ...parts, sequence: 9, time, event: "stopped", instance, version: "1.2.3" },
    ] satisfies LogRecord[]);
  });

  it("is read in memory that threads share", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(segment.length));
    shared.set(segment);
    expect([...(await openSegment(shared)).records()]).toEqual([...(await openSegment(segment)).records()]);
  });

  it("has decisions of each form", async () => {
    const [first, ...rest] = [...(await openSegment(segment)).records()].slice(10).map(([, record]) => record);
    const plain = {
      kind: "decision", ...parts, sequence: 0, time, policies: 1,
      outcomes: [{ target: 4, answer: "allowed" }, { target: 5, answer: "denied" }, { target: 2 ** 30 - 1, answer: "limited" }],
      principal: { kind: "clear", id: "adá" }, resource: { kind: "clear", id: "a long id, of more than 32 bytes: a1" },
      trace: undefined, requestId: undefined, isGeneral: false, isCut: false, evidence: undefined,
    } satisfies LogRecord;
    expect(first).toEqual(plain);
    const filled = (length: number, by: number): Uint8Array => new Uint8Array(length).fill(by);
    expect(rest).toEqual([
      {
        ...plain, sequence: 1, principal: { kind: "pseudonym", digest: filled(16, 1) }, resource: { kind: "commitment", digest: filled(32, 2) },
        trace: filled(16, 3), requestId: "request 1", isGeneral: true, isCut: true,
      },
      { ...plain, sequence: 2, principal: { kind: "absent" }, outcomes: [] },
      { ...plain, sequence: 3, evidence: { kind: "read", bytes: Uint8Array.of(1, 2, 3) } },
      { ...plain, sequence: 4, evidence: { kind: "request", bytes: new Uint8Array() } },
      { ...plain, sequence: 5, evidence: { kind: "digest", bytes: filled(32, 4) } },
      { ...plain, sequence: 6, evidence: { kind: "committed-read", bytes: filled(32, 5) } },
      { ...plain, sequence: 7, evidence: { kind: "committed-request", bytes: filled(32, 6) } },
    ]);
  });

  it("names the place of each changed byte, or one before it", async () => {
    const second = [...(await openSegment(segment)).frames()][1]!.offset;
    for (let at = 0; at < segment.length; at += 1) {
      const fault = await faultOf(edited(segment, at));
      expect([at, fault.code]).toEqual([at, "malformed-log"]);
      const start = at < 16 ? at : at < second ? 16 : second;
      expect(fault.offset).toBeGreaterThanOrEqual(start);
      expect(fault.offset).toBeLessThan(at < 16 ? 16 : at < second ? second : segment.length);
    }
  });

  it("that is cut off ends with the offset of the frame", async () => {
    const offsets = [...(await openSegment(segment)).frames()].map(({ offset }) => offset);
    for (let length = 0; length < segment.length; length += 1) {
      if (length === 16 || length === offsets[1]) continue;
      const { offset } = await faultOf(segment.subarray(0, length));
      expect([length, offset]).toEqual([length, length < 16 ? length : length < offsets[1]! ? 16 : offsets[1]]);
    }
    expect([...(await openSegment(segment.subarray(0, 16))).frames()]).toEqual([]);
  });

  it("without a frame, or with one twice, names where the next does not follow", async () => {
    const [first, second] = [...(await openSegment(segment)).frames()].map(({ offset }) => offset) as [number, number];
    const [start, one, two] = [segment.subarray(0, first), segment.subarray(first, second), segment.subarray(second)];
    const joined = (...parts: Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));
    expect(await faultOf(joined(start, one, one))).toMatchObject({ offset: second + 48, message: expect.stringContaining("before") });
    expect(await faultOf(joined(start, two, one))).toMatchObject({ offset: first + two.length + 48 });
  });

  it("that is none is an error by its kind", async () => {
    for (const none of [undefined, null, 1, "wardgate-log", {}, [1]]) await expect(openSegment(none as never)).rejects.toThrow(TypeError);
    for (const none of [new Uint8Array(), new Uint8Array(5_000_000)]) await expect(openSegment(none)).rejects.toEqual(ofCode("malformed-log"));
  });

  it("of hostile bytes is refused and costs no more than one frame at a time", async () => {
    const hostile = new Uint8Array(5_000_000);
    for (let seed = 1; seed <= 40; seed += 1) {
      let state = seed;
      for (let at = 0; at < hostile.length; at += 997) hostile[at] = (state = (state * 1_103_515_245 + 12_345) >>> 0) >>> 16;
      hostile.set(segment.subarray(0, 16 + (seed % 128)));
      // The length of a frame.
      new DataView(hostile.buffer).setUint32(20, 2 ** 32 - seed, true);
      expect(await faultOf(hostile)).toMatchObject({ code: "malformed-log", offset: 16 });
    }
    await expect(verifyProof(proof, key)).resolves.toMatchObject({ number: 449 });
  });
});

/** Returns the error in reading all of a segment. */
async function faultOf(bytes: Uint8Array): Promise<WardgateError> {
  try {
    for (const _ of (await openSegment(bytes)).records());
  } catch (thrown) {
    return thrown as WardgateError;
  }
  throw new Error("the segment was read");
}
