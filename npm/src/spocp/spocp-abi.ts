// An instance with one set of rules, the mirror of `crates/spocp-wasm/src/lib.rs`.
//
// The calls take and return numbers; text and bytes cross in a buffer of the instance. An exception
// that leaves the instance is a trap: the instance must not be used again. Its memory is freed when
// it becomes unreachable.

import { mismatchOf } from "../wasm/code.ts";
import { WardgateError } from "../base/errors.ts";

/** Returns the difference between a module and that of SPOCP; `undefined` if there is none. */
export function rulesMismatch(code: WebAssembly.Module): string | undefined {
  return mismatchOf(code, EXPORTS, () => false);
}

export class RuleInstance {
  /** The number of rules. */
  readonly size: number;
  readonly #calls: Calls;
  /** The view of the buffer, until it moves; a growing memory detaches it. */
  #view: Uint8Array = NO_BYTES;

  /** Reads rules that the runtime has verified. */
  constructor(module: WebAssembly.Module, packed: Uint8Array) {
    this.#calls = new WebAssembly.Instance(module).exports as unknown as Calls;
    this.#buffer(packed.length).set(packed);
    this.size = this.#calls.open(packed.length);
    // The instance reuses the buffer for the rules.
    this.#view = NO_BYTES;
    if (this.size < 0) throw new WardgateError("malformed-rules", "the rules of the bundle are malformed");
  }

  /** Returns true if a rule allows the query. */
  allows(query: string | Uint8Array): boolean {
    return this.#checked(this.#calls.allows(this.#put(query))) === 1;
  }

  /** Returns the number of the first rule that allows the query, as a list of at most one. */
  first(query: string | Uint8Array): Uint32Array {
    return this.#numbers(this.#calls.first(this.#put(query)));
  }

  /** Returns the numbers of all rules that allow the query. */
  matches(query: string | Uint8Array): Uint32Array {
    return this.#numbers(this.#calls.matches(this.#put(query)));
  }

  /** Returns the canonical form of a rule. */
  canonical(rule: number): Uint8Array {
    return this.#answer(this.#calls.canonical(rule));
  }

  /** Returns the advanced form of a rule, which is text. */
  advanced(rule: number): string {
    return new TextDecoder().decode(this.#answer(this.#calls.advanced(rule)));
  }

  #numbers(length: number): Uint32Array {
    return new Uint32Array(this.#answer(this.#checked(length)).buffer);
  }

  /** Returns the status of a query, or throws if the query is malformed. */
  #checked(status: number): number {
    if (status >= 0) return status;
    const offset = this.#calls.wrongAt();
    const message = new TextDecoder().decode(this.#answer(this.#calls.wrong()));
    throw Object.assign(new WardgateError("malformed-query", message), { offset });
  }

  /** Returns a copy of the answer. */
  #answer(length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#calls.memory.buffer, this.#calls.answer() >>> 0, Math.max(length, 0)).slice();
  }

  /** Writes a query into the buffer, and returns its length. */
  #put(query: string | Uint8Array): number {
    // A code unit takes at most three bytes.
    if (typeof query === "string" && query.length * 3 <= MIN_BUFFER_BYTES) {
      return ENCODER.encodeInto(query, this.#buffer(MIN_BUFFER_BYTES)).written;
    }
    const bytes = typeof query === "string" ? ENCODER.encode(query) : query;
    this.#buffer(bytes.length).set(bytes);
    return bytes.length;
  }

  #buffer(length: number): Uint8Array {
    const wanted = Math.max(length, MIN_BUFFER_BYTES);
    if (this.#view.length === wanted) return this.#view;
    const address = wanted > MAX_BUFFER_BYTES ? 0 : this.#calls.room(wanted) >>> 0;
    if (address === 0) throw new RangeError(`there is no room for ${length} bytes in the module`);
    return (this.#view = new Uint8Array(this.#calls.memory.buffer, address, wanted));
  }
}

interface Calls {
  readonly memory: WebAssembly.Memory;
  readonly room: (length: number) => number;
  readonly answer: () => number;
  readonly open: (length: number) => number;
  readonly allows: (length: number) => number;
  readonly first: (length: number) => number;
  readonly matches: (length: number) => number;
  readonly canonical: (rule: number) => number;
  readonly advanced: (rule: number) => number;
  readonly wrong: () => number;
  readonly wrongAt: () => number;
}

const NO_BYTES = new Uint8Array();
const ENCODER = new TextEncoder();
/** The exports that identify the module. */
const EXPORTS = ["memory", "room", "answer", "open", "allows", "first", "matches", "canonical", "advanced", "wrong", "wrongAt"];
/** The smallest size of the buffer in the module. */
const MIN_BUFFER_BYTES = 4096;
/** The largest requested size: the module could not hold a larger buffer beside its other data. */
const MAX_BUFFER_BYTES = 2 ** 30;
