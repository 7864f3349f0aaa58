// An instance of the sequencer, the mirror of `crates/log-sequencer-wasm/src/lib.rs`: one log that is written.

import { WardgateError } from "../base/errors.ts";
import { mismatchOf } from "../wasm/code.ts";
import { BytesInstance, type BytesCalls } from "../wasm/bytes-instance.ts";
import { faultOf, isPassing } from "./log-faults.ts";

/** Returns the difference between a module and the sequencer; `undefined` if there is none. */
export function sequencerMismatch(code: WebAssembly.Module): string | undefined {
  return mismatchOf(code, EXPORTS, () => false);
}

/** A write to the store, after those before it. */
export interface Write {
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly condition: "none" | "new" | "unchanged" | "deletion";
}

/** What became of a frame that was handed to a sequencer. */
export type Appended =
  /** Its records are in the log. */
  | { readonly kind: "appended" }
  /** They were in the log before. */
  | { readonly kind: "known" }
  /** It is not taken, now or later. */
  | { readonly kind: "refused"; readonly message: string }
  /** It is not taken now: it should be handed over again. */
  | { readonly kind: "later"; readonly message: string };

/** The log that is written. After an error it is of no use any more. */
export class SequencerInstance extends BytesInstance<Calls> {
  /** The name of the segment that has the next frame, if there is one. */
  next = "";

  constructor(module: WebAssembly.Module) {
    super(module, MAX_BUFFER_BYTES, "the module of the decision log");
  }

  /**
   * Opens the log of a key with two objects of its store, and returns the beginning of the object `identity`. Values are hidden under
   * `keys` of subjects; `undefined` leaves them as they are.
   */
  open(key: string, sequencer: Uint8Array, checkpoint: Uint8Array, keys: Uint8Array | undefined): string {
    const text = encoder.encode(key);
    this.put(crypto.getRandomValues(new Uint8Array(48)), text, sequencer, checkpoint, keys ?? NO_BYTES);
    this.#checked(() => this.calls.open(text.length, sequencer.length, checkpoint.length, keys?.length ?? -1));
    const answer = decoder.decode(this.answer());
    this.next = answer.slice(0, NAME_LENGTH);
    return answer.slice(NAME_LENGTH);
  }

  /** Goes on with the next segment. */
  follow(segment: Uint8Array, millis: number): void {
    this.put(segment);
    this.#checked(() => this.calls.follow(segment.length, ...halves(millis)));
    this.next = decoder.decode(this.answer());
  }

  /** Throws if frames of the checkpoint are missing. */
  mustBeWhole(): void {
    this.#checked(() => this.calls.whole());
  }

  /** Takes a frame. */
  take(frame: Uint8Array, millis: number): Appended {
    // A longer one is refused by its length, and need not cross.
    const bytes = frame.subarray(0, MAX_FRAME_BYTES);
    this.put(bytes);
    const status = this.called(() => this.calls.take(bytes.length, ...halves(millis)));
    if (status >= 0) return { kind: status === 0 ? "appended" : "known" };
    return { kind: isPassing(status) ? "later" : "refused", message: faultOf(status)[1] };
  }

  /**
   * Deletes the keys of subjects, and returns how many had one, with those that were deleted `before` and are not recorded yet. The next
   * commit writes all of it.
   */
  erase(subjects: readonly string[], before: number, millis: number): number {
    const ids = subjects.map((subject) => encoder.encode(subject));
    const long = ids.find(({ length }) => length > MAX_ID_BYTES);
    if (long !== undefined) throw new RangeError(`the id of a subject must have at most ${MAX_ID_BYTES} bytes, found ${long.length}`);
    const parts = ids.flatMap((id) => [Uint8Array.of(id.length & 0xff, id.length >>> 8), id]);
    this.put(...parts);
    return this.#checked(() => this.calls.erase(parts.reduce((sum, { length }) => sum + length, 0), before, ...halves(millis)));
  }

  /** Returns the writes that put all frames that were taken into the log. */
  commit(millis: number): readonly Write[] {
    this.put(crypto.getRandomValues(new Uint8Array(32)));
    this.#checked(() => this.calls.commit(...halves(millis)));
    return writesIn(this.answer());
  }

  #checked(call: () => number): number {
    const status = this.called(call);
    if (status < 0) throw new WardgateError(...faultOf(status));
    return status;
  }
}

function writesIn(answer: Uint8Array<ArrayBuffer>): Write[] {
  const view = new DataView(answer.buffer);
  const writes: Write[] = [];
  for (let at = 0; at < answer.length; ) {
    const name = at + 3;
    const content = name + view.getUint16(at + 1, true) + 4;
    const end = content + view.getUint32(content - 4, true);
    writes.push({ name: decoder.decode(answer.subarray(name, content - 4)), bytes: answer.slice(content, end), condition: CONDITIONS[answer[at]!]! });
    at = end;
  }
  return writes;
}

/** Returns the halves of a time in microseconds. */
function halves(millis: number): readonly [low: number, high: number] {
  const micros = Math.round(millis * 1000);
  return [micros >>> 0, Math.floor(micros / 2 ** 32)];
}

interface Calls extends BytesCalls {
  readonly open: (key: number, sequencer: number, checkpoint: number, keys: number) => number;
  readonly follow: (length: number, low: number, high: number) => number;
  readonly whole: () => number;
  readonly take: (length: number, low: number, high: number) => number;
  readonly erase: (length: number, before: number, low: number, high: number) => number;
  readonly commit: (low: number, high: number) => number;
}

/** The exports that identify the module. */
const EXPORTS = ["memory", "room", "words", "open", "follow", "whole", "take", "erase", "commit"];
const NO_BYTES = new Uint8Array();
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const CONDITIONS: readonly Write["condition"][] = ["none", "new", "unchanged", "deletion"];
const NAME_LENGTH = "000000000000.wgl".length;
const MAX_FRAME_BYTES = 128_001;
/** The most bytes of the id of a subject, as the length before it has 16 bits. */
const MAX_ID_BYTES = 0xffff;
/** The largest requested size: that of a segment. */
const MAX_BUFFER_BYTES = 2 ** 25;
