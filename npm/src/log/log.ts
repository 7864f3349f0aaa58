// Recording, reading and verifying a decision log: the entry `wardgate/log`.
//
// The module is loaded by the first call.

import { bytesOf, describe, mustBeBytes } from "../base/describe.ts";
import type { LoadOptions } from "../pdp/load-options.ts";
import { readLoad } from "../wasm/code.ts";
import { loadLog, logInstance } from "./log-module.ts";
import { readRecord } from "./log-reader.ts";
import { OpenedSegment, START } from "./log-segment.ts";
import type { ProvedRecord, Segment } from "./log-types.ts";
import { replayed } from "./replay.ts";
import { ReplayBundles } from "./replay-bundles.ts";
import type { ReplayedDecision, ReplayOptions } from "./replay-types.ts";

export { WardgateError, type Code } from "../base/errors.ts";
export type { LoadOptions } from "../pdp/load-options.ts";
export type { DecisionLog } from "../pdp/recording.ts";
export { decisionLog, type DecisionLogOptions } from "./decision-log.ts";
export { segmentsOf } from "./log-chains.ts";
export type * from "./log-types.ts";
export type * from "./replay-types.ts";

/**
 * Loads the code of the module, which the functions below do themselves. The option `code` supplies the
 * code, as for `open`. Further calls do nothing.
 *
 * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
 *
 * @example
 *     await load({ code: fetch("/assets/wardgate_log_bg.wasm") });
 */
export async function load(options: LoadOptions = {}): Promise<void> {
  await loadLog(readLoad(options));
}

/**
 * Verifies the proof of a record, as `wardgate log prove` writes it, with the key of its log: that the key
 * signed the checkpoint, and that the record is in the log of the checkpoint.
 *
 * @throws WardgateError with the code `refused-proof`, or `malformed-key` if `key` is none, and as `load`.
 *
 * @example
 *     const { record, number, checkpoint } = await verifyProof(await file.text(), vkey);
 */
export async function verifyProof(proof: string | Uint8Array | ArrayBuffer, key: string): Promise<ProvedRecord> {
  const given = typeof proof === "string" ? new TextEncoder().encode(proof) : bytesOf(proof);
  if (given === undefined) throw new TypeError(`a proof must be a string or bytes, found ${describe(proof)}`);
  if (typeof key !== "string") throw new TypeError(`a key must be a string, found ${describe(key)}`);
  await loadLog(undefined);
  const { record, number, frame, size, seconds, origin, root } = logInstance().prove(given.subarray(0, MOST), new TextEncoder().encode(key).subarray(0, MOST));
  return { record: readRecord(record, 0), number, frame, checkpoint: { origin, size, root, time: seconds * 1000 } };
}

/**
 * Opens a segment, a file `.wgl` of a decision log. Its frames are verified when they are read. That they are those
 * of the log, only the checkpoint says: see `wardgate log verify`.
 *
 * @throws WardgateError with the code `malformed-log` if the bytes do not begin like a segment, and as `load`.
 *
 * @example
 *     const segment = await openSegment(await file.arrayBuffer());
 *     for (const [number, record] of segment.records()) console.log(number, record.kind);
 */
export async function openSegment(bytes: Uint8Array | ArrayBuffer): Promise<Segment> {
  const given = mustBeBytes(bytes, "a segment");
  await loadLog(undefined);
  // Text in memory that threads share cannot be decoded.
  return new OpenedSegment(given.buffer instanceof ArrayBuffer ? given : new Uint8Array(given), logInstance);
}

/**
 * Returns the bytes before the first frame of a segment: with them, the frames of a `decisionLog` in their order are a
 * segment.
 *
 * @example
 *     const segment = new Blob([segmentStart(), ...frames]);
 */
export function segmentStart(): Uint8Array<ArrayBuffer> {
  return START.slice();
}

/**
 * Decides again what a segment records, from the evidence and the time of each decision alone: by the bundles that were in
 * force, or by another one (`with`), which tells what a change of policies would have changed. Decisions come in their order,
 * each when it is asked for, so a loop may end early. Bundles are opened when the segment names their policies.
 *
 * The frames are verified as they are read. That they are those of the log, only its checkpoint says.
 *
 * @throws WardgateError as `openSegment` and `open` do, while the decisions are read; TypeError for wrong options.
 *
 * @example
 *     for await (const { number, outcomes } of replay(segment, { bundles: [bundle], trust })) {
 *       for (const outcome of outcomes) if (outcome.kind === "different") console.log(number, outcome.target, outcome.isAllowed);
 *     }
 */
export async function* replay(segment: Uint8Array | ArrayBuffer | Segment, options: ReplayOptions): AsyncIterableIterator<ReplayedDecision> {
  const bundles = await ReplayBundles.from(options);
  try {
    yield* replayed(bytesOf(segment) === undefined ? (segment as Segment) : await openSegment(segment as Uint8Array), bundles);
  } finally {
    bundles.dispose();
  }
}

/** More bytes than a proof or key may have, so that a longer one is refused like one of so many. */
const MOST = 2 ** 20;
