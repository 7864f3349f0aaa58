// Frames in any order, and more than once.

import { expect, it } from "vitest";

import { album, atNoon, ofCode, thrownBy, viewing } from "../testing.ts";
import { open } from "../pdp/open.ts";
import { decisionLog, openSegment, segmentsOf, type LogRecord } from "./log.ts";

/** Returns the frames of a log, with a decision in each. */
async function framesOf(count: number): Promise<Uint8Array[]> {
  const frames: Uint8Array[] = [];
  const log = decisionLog({ sink: (frame) => frames.push(frame), flushMillis: 0 });
  const pdp = await open(album, { ...atNoon, log });
  for (let at = 0; at < count; at += 1) {
    pdp.isAllowed(viewing({ resource: { id: `a${at}` } }));
    await log.flush();
  }
  return frames;
}

async function idsIn(segment: Uint8Array): Promise<string[]> {
  const records: LogRecord[] = [...(await openSegment(segment)).records()].map(([, record]) => record);
  return records.flatMap((it) => (it.kind === "decision" && it.resource.kind === "clear" ? [it.resource.id] : []));
}

it("frames of two logs become two segments, whatever their order", async () => {
  const [one, other] = [await framesOf(4), await framesOf(3)];
  const mixed = [other[2]!, one[3]!, one[0]!, other[0]!, one[0]!, one[2]!, other[1]!, one[1]!, other[2]!];
  const segments = segmentsOf(mixed);
  expect(await Promise.all(segments.map(idsIn))).toEqual([["a0", "a1", "a2", "a3"], ["a0", "a1", "a2"]]);
});

it("a segment begins after a frame that is missing", async () => {
  const frames = await framesOf(4);
  const segments = segmentsOf([frames[0]!, frames[3]!, frames[2]!]);
  expect(await Promise.all(segments.map(idsIn))).toEqual([["a0"], ["a2", "a3"]]);
  expect([...(await openSegment(segments[1]!)).frames()][0]).toMatchObject({ first: 6 });
});

it("other bytes are errors, here or when the segment is read", async () => {
  expect(segmentsOf([])).toEqual([]);
  expect(thrownBy(() => segmentsOf([new Uint8Array(127)]))).toEqual(ofCode("malformed-log"));
  expect(() => segmentsOf(["frame" as never])).toThrow(TypeError);
  const [segment] = segmentsOf([new Uint8Array(128)]);
  const opened = await openSegment(segment!);
  expect(thrownBy(() => [...opened.frames()])).toEqual(ofCode("malformed-log"));
});
