// Frames that arrived in any order, and more than once, put into segments.
//
// The head of a frame has the digest of the head before it, and the beginning of its own digest is its check. So
// frames are put together by 16 bytes of each, and `openSegment` verifies the rest.

import { mustBeBytes } from "../base/describe.ts";
import { malformed } from "./log-abi.ts";
import { START } from "./log-segment.ts";

/**
 * Returns the segments that the frames of some logs make: one for each chain of frames. A segment that does not begin with record
 * 0 is after frames that are missing. The frames are verified when a segment is read.
 *
 * @throws WardgateError with the code `malformed-log` for bytes that are too short for a frame.
 *
 * @example
 *     for (const segment of segmentsOf(frames)) for (const [number, record] of (await openSegment(segment)).records()) show(number, record);
 */
export function segmentsOf(frames: Iterable<Uint8Array | ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const given = new Map<string, Uint8Array>();
  const following = new Map<string, string>();
  for (const frame of frames) {
    const bytes = mustBeBytes(frame, "a frame");
    if (bytes.length < HEAD_BYTES) throw malformed("expected a whole frame, found the end of the bytes", 0);
    const [check, before] = [nameAt(bytes, CHECK_AT), nameAt(bytes, BEFORE_AT)];
    if (given.has(check)) continue;
    given.set(check, bytes);
    // Of two frames after one, the first goes on; the other begins a segment, since only it can be told apart there.
    if (!following.has(before)) following.set(before, check);
  }
  const firsts = [...given].filter(([check, bytes]) => {
    const before = nameAt(bytes, BEFORE_AT);
    return !given.has(before) || following.get(before) !== check;
  });
  const segments = firsts.map(([check]) => segmentFrom(check, given, following));
  // What is left are frames that no program wrote: each of them is before itself.
  for (const [check] of given) segments.push(segmentFrom(check, given, following));
  return segments;
}

/** Returns the segment of a frame and all that follow it, and takes them from the frames. */
function segmentFrom(first: string, given: Map<string, Uint8Array>, following: ReadonlyMap<string, string>): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [START];
  for (let check: string | undefined = first; check !== undefined; check = following.get(check)) {
    const bytes = given.get(check);
    if (bytes === undefined) break;
    parts.push(bytes);
    given.delete(check);
  }
  const segment = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    segment.set(part, at);
    at += part.length;
  }
  return segment;
}

function nameAt(bytes: Uint8Array, at: number): string {
  return bytes.subarray(at, at + NAME_BYTES).join();
}

const HEAD_BYTES = 128;
const BEFORE_AT = 48;
const CHECK_AT = 112;
const NAME_BYTES = 16;
