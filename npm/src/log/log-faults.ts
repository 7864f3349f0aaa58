// The words for faults, by the numbers of `crates/decision-log-wasm/src/faults.rs`, which compares them.

import type { Code } from "../base/errors.ts";

/** Returns the code and the message of a fault. */
export function faultOf(number: number): readonly [code: Code, message: string] {
  const message = FAULTS.get(number) ?? "a fault";
  if (number === KEY || number === SECRET) return ["malformed-key", message];
  return [number > FRAMES ? "refused-proof" : "malformed-log", message];
}

/** Returns true if a frame that was refused may be taken later. */
export function isPassing(number: number): boolean {
  return number <= PASSING && number > LOGS;
}

const KEY = -1;
const SECRET = -2;
/** Numbers from here down are of frames. */
const FRAMES = -20;
/** And of frames that may be taken later. */
const PASSING = -41;
/** And of logs that cannot be gone on with. */
const LOGS = -50;

const FAULTS: ReadonlyMap<number, string> = new Map([
  [-1, "expected the key of a log: a name, `+`, an id, `+` and a key of ML-DSA-44"],
  [-2, "expected the private key of a log, as `wardgate log keys` writes it"],
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
  [-30, "expected a frame of at most 128,000 bytes, found a longer one"],
  [-31, "expected one frame, found bytes behind it"],
  [-32, "expected a frame that can be read alone, found one of another form or version"],
  [-33, "expected records that an isolate writes, found another kind"],
  [-34, "expected a frame with decisions, found none"],
  [-35, "expected decisions whose sequences follow one another"],
  [-36, "a decision names policies or a target that its frame does not define"],
  [-37, "a part of the decisions is in the log already"],
  [-38, "the log has a record that these decisions are lost"],
  [-39, "the frame is too old: it may have been taken before"],
  [-40, "the frame is of a later time than now"],
  [-41, "too many frames of the isolate are missing"],
  [-42, "there are too many isolates"],
  [-43, "the next segment is full"],
  [-50, "the object `sequencer` is not of the log of the checkpoint, or damaged"],
  [-51, "a segment is damaged, or does not follow the one before"],
  [-52, "the frames of the log are others than those of its checkpoint"],
  [-53, "the checkpoint is about more frames than there are"],
  [-54, "no signature was found"],
  [-55, "no log is open"],
  [-56, "no sequencer of this log wrote a segment"],
  [-57, "the keys of subjects are damaged"],
]);
