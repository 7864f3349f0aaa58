// Reads the bytes of a record, the mirror of `crates/decision-log/src/record.rs`.
//
// The module has verified the form of the record before, so that every length fits.

import { malformed, safe } from "./log-abi.ts";
import type { Identity, LogRecord, RecordedEvidence, RecordedOutcome } from "./log-types.ts";

/** Returns the record at the front of some bytes, which begin at `offset` of a segment. */
export function readRecord(bytes: Uint8Array, offset: number): LogRecord {
  return new RecordReader(bytes, offset).record(0);
}

/** Reads records in bytes that begin at `offset` of a segment. */
export class RecordReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #offset: number;
  #at = 0;

  constructor(bytes: Uint8Array, offset: number) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#offset = offset;
  }

  /** The position behind what was read. */
  get at(): number {
    return this.#at;
  }

  /** Returns the record at a position. */
  record(at: number): LogRecord {
    const view = this.#view;
    const [kind, flags] = [view.getUint8(at), view.getUint8(at + 1)];
    const parts = { stream: view.getUint16(at + 4, true), caller: view.getUint16(at + 6, true), sequence: view.getUint32(at + 8, true) };
    this.#at = at + HEAD_BYTES;
    switch (kind) {
      case 1:
        return this.#decision(flags, parts);
      case 2:
        return { kind: "policies", ...parts, time: this.#time(), number: this.#word(), revision: this.#long(), root: this.#take(32), name: this.#text() };
      case 3:
        return {
          kind: "target", ...parts, policies: this.#word(), number: this.#word(), resourceKind: this.#text(), policyVersion: this.#text(),
          scope: this.#text(), action: this.#text(),
        };
      case 4:
        return { kind: "lost", ...parts, time: this.#time(), ofStream: this.#short(), first: this.#word(), count: this.#long(), reason: this.#text() };
      case 5: {
        const before = this.#time();
        return { kind: "clock", ...parts, time: this.#time(), before };
      }
      case 6:
        return { kind: "process", ...parts, time: this.#time(), event: this.#byte() === 0 ? "started" : "stopped", instance: this.#take(16), version: this.#text() };
      case 7:
        return { kind: "erasure", ...parts, time: this.#time(), keys: this.#word() };
      case 8:
        return { kind: "settings", ...parts, time: this.#time(), text: this.#text() };
      case 9:
        return {
          kind: "search", ...parts, time: this.#time(), policies: this.#word(), target: this.#word(), asked: this.#long(), allowed: this.#long(),
        };
      case 10:
        return { kind: "loss", ...parts, time: this.#time(), frames: this.#long(), found: this.#long(), reason: this.#text() };
      default:
        throw malformed(`unknown kind of record ${kind}`, this.#offset + at);
    }
  }

  #decision(flags: number, { stream, caller, sequence }: { stream: number; caller: number; sequence: number }): LogRecord {
    return {
      kind: "decision",
      stream,
      caller,
      sequence,
      time: this.#time(),
      policies: this.#word(),
      outcomes: this.#outcomes(),
      principal: this.#identity(),
      resource: this.#identity(),
      trace: flags & TRACE ? this.#take(16) : undefined,
      requestId: flags & REQUEST ? this.#text() : undefined,
      isGeneral: (flags & GENERAL) !== 0,
      isCut: (flags & CUT) !== 0,
      evidence: this.#evidence(flags >>> 4),
    };
  }

  #outcomes(): RecordedOutcome[] {
    const outcomes: RecordedOutcome[] = [];
    for (let count = this.#byte(); count > 0; count -= 1) {
      const word = this.#word();
      outcomes.push({ target: word >>> 2, answer: ANSWERS[word & 3]! });
    }
    return outcomes;
  }

  #identity(): Identity {
    switch (this.#byte()) {
      case 1:
        return { kind: "clear", id: this.#text() };
      case 2:
        return { kind: "pseudonym", digest: this.#take(16) };
      case 3:
        return { kind: "commitment", digest: this.#take(32) };
      default:
        return ABSENT;
    }
  }

  #evidence(form: number): RecordedEvidence | undefined {
    if (form === 0) return undefined;
    return { kind: EVIDENCE[form]!, bytes: this.#take(form <= 2 ? this.#short() : 32) };
  }

  #byte(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  #short(): number {
    return this.#view.getUint16(this.#skip(2), true);
  }

  #word(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  #long(): number {
    const at = this.#skip(8);
    return safe(this.#view.getUint32(at, true), this.#view.getUint32(at + 4, true), this.#offset + at);
  }

  /** Returns a time in milliseconds. */
  #time(): number {
    return timeAt(this.#view, this.#skip(8), this.#offset);
  }

  #take(count: number): Uint8Array {
    const at = this.#skip(count);
    return new Uint8Array(this.#bytes.subarray(at, at + count));
  }

  #text(): string {
    const length = this.#short();
    const [bytes, at] = [this.#bytes, this.#skip(length)];
    if (length > SHORT) return decoder.decode(bytes.subarray(at, at + length));
    // For short texts a call of the decoder takes longer than all of this.
    let text = "";
    for (let from = at; from < at + length; from += 1) {
      const unit = bytes[from]!;
      if (unit > 0x7f) return decoder.decode(bytes.subarray(at, at + length));
      text += String.fromCharCode(unit);
    }
    return text;
  }

  /** Returns the position, and passes over so many bytes. */
  #skip(count: number): number {
    const at = this.#at;
    this.#at = at + count;
    return at;
  }
}

/** Returns the time at a position, in milliseconds. */
export function timeAt(view: DataView, at: number, offset: number): number {
  return safe(view.getUint32(at, true), view.getInt32(at + 4, true), offset + at) / 1000;
}

const HEAD_BYTES = 12;
const [GENERAL, TRACE, REQUEST, CUT] = [1, 2, 4, 8];
const ANSWERS = ["denied", "allowed", "limited"] as const;
const EVIDENCE = [undefined, "read", "request", "digest", "committed-read", "committed-request", "committed-digest"] as const;
const ABSENT: Identity = { kind: "absent" };
const SHORT = 32;
// A text may begin with U+FEFF, which a decoder would take for a mark.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
