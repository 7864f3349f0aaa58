// An instance of the module of the decision log, the mirror of `crates/decision-log-wasm/src/lib.rs`.
//
// No call leaves anything behind that the next one needs, so after a trap another instance goes on.

import { WardgateError } from "../base/errors.ts";
import { mismatchOf } from "../wasm/code.ts";
import { BytesInstance, type BytesCalls } from "../wasm/bytes-instance.ts";
import { faultOf } from "./log-faults.ts";

/** Returns the difference between a module and that of the decision log; `undefined` if there is none. */
export function logMismatch(code: WebAssembly.Module): string | undefined {
  return mismatchOf(code, EXPORTS, () => false);
}

/** A proof that holds: the numbers beside it, and the bytes of the record. */
export interface ProofAnswer {
  readonly number: number;
  readonly frame: number;
  readonly size: number;
  readonly seconds: number;
  readonly origin: string;
  readonly root: Uint8Array;
  readonly record: Uint8Array;
}

export class LogInstance extends BytesInstance<Calls> {
  constructor(module: WebAssembly.Module) {
    super(module, MAX_BUFFER_BYTES, "the module of the decision log");
  }

  /** Verifies a proof with a key. */
  prove(proof: Uint8Array, key: Uint8Array): ProofAnswer {
    this.put(proof, key);
    this.#checked(0, () => this.calls.prove(proof.length, key.length));
    const answer = this.answer();
    const origin = this.word(11);
    return {
      number: this.#whole(3),
      frame: this.#whole(5),
      size: this.#whole(7),
      seconds: this.#whole(9),
      origin: new TextDecoder().decode(answer.subarray(0, origin)),
      root: answer.slice(origin, origin + 32),
      record: answer.slice(origin + 32),
    };
  }

  /** Verifies the frame at the front of some bytes, which are at `offset` of a segment, and returns the digest of its head. */
  frame(bytes: Uint8Array, offset: number): Uint8Array {
    this.put(bytes);
    this.#checked(offset, () => this.calls.frame(bytes.length));
    return this.answer();
  }

  /** Returns the digest of the head of a frame of these records, followed by the frame. */
  write(before: Uint8Array, first: number, records: Uint8Array, micros: number): Uint8Array<ArrayBuffer> {
    const head = new Uint8Array(40);
    head.set(before);
    new DataView(head.buffer).setBigUint64(32, BigInt(first), true);
    this.put(head, records);
    this.#checked(0, () => this.calls.write(head.length + records.length, micros >>> 0, Math.floor(micros / 2 ** 32)));
    return this.answer();
  }

  /** Returns the pseudonym of an id under a key of 32 bytes. */
  pseudonym(key: Uint8Array, field: number, id: Uint8Array): Uint8Array {
    this.put(key, id);
    this.#checked(0, () => this.calls.pseudonym(field, id.length));
    return this.answer();
  }

  /** Returns the digest of a request, which is too long for a record. */
  digest(request: Uint8Array): Uint8Array {
    this.put(request);
    this.#checked(0, () => this.calls.digest(request.length));
    return this.answer();
  }

  /** Makes a call, and throws what it refuses. */
  #checked(offset: number, call: () => number): void {
    const status = this.called(call);
    if (status >= 0) return;
    const [code, message] = faultOf(status);
    if (code !== "malformed-log") throw new WardgateError(code, message);
    throw malformed(message, offset + this.word(2));
  }

  #whole(index: number): number {
    return safe(this.word(index), this.word(index + 1), 0);
  }
}

/** Returns a number of its halves, or throws if a number of JavaScript cannot have its value. */
export function safe(low: number, high: number, offset: number): number {
  const number = high * 2 ** 32 + low;
  if (Number.isSafeInteger(number)) return number;
  throw malformed(`expected a number below 2^53, found ${number}`, offset);
}

/** Returns the error for a segment that is not as written. */
export function malformed(message: string, offset: number): WardgateError {
  return Object.assign(new WardgateError("malformed-log", `${message}, at byte ${offset}`), { offset });
}

interface Calls extends BytesCalls {
  readonly prove: (proof: number, key: number) => number;
  readonly frame: (length: number) => number;
  readonly write: (length: number, low: number, high: number) => number;
  readonly pseudonym: (field: number, id: number) => number;
  readonly digest: (length: number) => number;
}

/** The exports that identify the module. */
const EXPORTS = ["memory", "room", "words", "prove", "frame", "write", "pseudonym", "digest"];
/** The largest requested size: a frame with its head, and far more than a proof has. */
const MAX_BUFFER_BYTES = 2 ** 22;
