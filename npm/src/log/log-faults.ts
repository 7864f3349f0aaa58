// The words for faults, by the numbers of `crates/decision-log-wasm/src/faults.rs`, which compares them.

import type { Code } from "../base/errors.ts";

/** Returns the code and the message of a fault. */
export function faultOf(number: number): readonly [code: Code, message: string] {
  const message = FAULTS.get(number) ?? "a fault";
  if (number === KEY) return ["malformed-key", message];
  return [number > FRAMES ? "refused-proof" : "malformed-log", message];
}

const KEY = -1;
/** Numbers from here down are of frames. */
const FRAMES = -20;

const FAULTS: ReadonlyMap<number, string> = new Map([
  [-1, "expected the key of a log: a name, `+`, an id, `+` and a key of ML-DSA-44"],
  [-10, "expected the proof of a record, with `c2sp.org/tlog-proof@v1` first"],
  [-11, "the record is none of its frame"],
  [-12, "the frame is none of the log of the checkpoint"],
  [-13, "expected the origin, size and root of a log"],
  [-14, "the key of the log did not sign the checkpoint"],
  [-15, "a signature of the checkpoint is wrong"],
  [-16, "expected a signed note, found one that is too long"],
  [-17, "expected a signed note, found bytes that are no such text"],
  [-18, "expected a text, an empty line and signatures"],
  [-20, "expected a whole frame, found the end of the bytes"],
  [-21, "expected the head of a frame, found other or damaged bytes"],
  [-22, "expected as many records as the head of the frame says"],
  [-23, "expected the records of the head of the frame, found others"],
  [-24, "expected a record, found other bytes"],
  [-25, "expected records of one frame, found more"],
]);
