// A segment of a decision log: frames of records, each verified by the module when it is read.

import { malformed, safe, type LogInstance } from "./log-abi.ts";
import { RecordReader, timeAt } from "./log-reader.ts";
import type { Frame, LogRecord, Segment } from "./log-types.ts";

/** The frames in bytes that no other code writes into. */
export class OpenedSegment implements Segment {
  readonly #bytes: Uint8Array;
  readonly #instance: () => LogInstance;

  constructor(bytes: Uint8Array, instance: () => LogInstance) {
    const differs = START.findIndex((byte, at) => bytes[at] !== byte);
    if (differs >= 0) throw malformed("expected a segment of a decision log, with `wardgate-log` first", differs);
    this.#bytes = bytes;
    this.#instance = instance;
  }

  *frames(): IterableIterator<Frame> {
    let before: Frame | undefined;
    for (let offset = START.length; offset < this.#bytes.length; ) {
      const frame: ReadFrame = this.#frame(offset);
      if (before !== undefined) mustFollow(before, frame);
      yield frame;
      before = frame;
      offset = frame.end;
    }
  }

  *records(): IterableIterator<readonly [number: number, record: LogRecord]> {
    for (const { first, records } of this.frames()) {
      let number = first;
      for (const record of records) {
        yield [number, record];
        number += 1;
      }
    }
  }

  #frame(offset: number): ReadFrame {
    const rest = this.#bytes.subarray(offset);
    const view = new DataView(rest.buffer, rest.byteOffset, rest.length);
    // A length that is too large is refused with the head.
    const length = rest.length < HEAD_BYTES ? 0 : Math.min(view.getUint32(4, true), MAX_FRAME_BYTES);
    const bytes = rest.subarray(0, HEAD_BYTES + length);
    return new ReadFrame(bytes, offset, this.#instance().frame(bytes, offset));
  }
}

class ReadFrame implements Frame {
  readonly first: number;
  readonly count: number;
  readonly durable: number;
  readonly lowest: number;
  readonly highest: number;
  readonly before: Uint8Array;
  readonly root: Uint8Array;
  readonly digest: Uint8Array;
  readonly offset: number;
  readonly #bytes: Uint8Array;

  /** Reads a frame that the module has verified. */
  constructor(bytes: Uint8Array, offset: number, digest: Uint8Array) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, HEAD_BYTES);
    const long = (at: number): number => safe(view.getUint32(at, true), view.getUint32(at + 4, true), offset + at);
    this.first = long(8);
    this.durable = long(16);
    this.count = view.getUint32(24, true);
    this.lowest = timeAt(view, 32, offset);
    this.highest = timeAt(view, 40, offset);
    this.before = new Uint8Array(bytes.subarray(48, 80));
    this.root = new Uint8Array(bytes.subarray(80, 112));
    this.digest = digest;
    this.offset = offset;
    this.#bytes = bytes;
  }

  /** The offset behind the frame. */
  get end(): number {
    return this.offset + this.#bytes.length;
  }

  get records(): Iterable<LogRecord> {
    return { [Symbol.iterator]: () => recordsIn(this.#bytes, this.offset) };
  }
}

function* recordsIn(bytes: Uint8Array, offset: number): IterableIterator<LogRecord> {
  const reader = new RecordReader(bytes, offset);
  for (let at = HEAD_BYTES; at < bytes.length; at = reader.at) yield reader.record(at);
}

/** Throws if a frame is not the one after another. */
function mustFollow(before: Frame, frame: Frame): void {
  if (frame.before.some((byte, at) => byte !== before.digest[at])) throw malformed("the head before is another one", frame.offset + 48);
  const next = before.first + before.count;
  if (frame.first !== next) throw malformed(`expected record ${next}, found ${frame.first}`, frame.offset + 8);
}

/** The first bytes of a segment. The last one is the version of the format. */
export const START = Uint8Array.from([...new TextEncoder().encode("wardgate-log"), 0, 0, 0, 1]);
const HEAD_BYTES = 128;
const MAX_FRAME_BYTES = 2 ** 20;
