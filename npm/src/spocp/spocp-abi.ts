// One set of rules in an instance of its own, the mirror of `crates/spocp-wasm/src/lib.rs`.
//
// The calls take and return numbers alone, and what is text or bytes crosses in the room of the instance. An
// exception that leaves it is a trap: the instance must not be used again. What an instance holds goes when
// nobody knows it any more.

import { lackOf } from "../wasm/code.ts";
import { WardgateError } from "../base/errors.ts";

/** What a module lacks to be that of SPOCP; `undefined` if it is that one. */
export function lackOfRules(code: WebAssembly.Module): string | undefined {
  return lackOf(code, EXPORTS, () => false);
}

export class RuleInstance {
  /** How many rules there are. */
  readonly size: number;
  readonly #calls: Calls;
  /** The room, while it is where it was; a memory that grew takes it away. */
  #view: Uint8Array = NO_BYTES;

  /** Takes rules that the runtime has verified. */
  constructor(module: WebAssembly.Module, packed: Uint8Array) {
    this.#calls = new WebAssembly.Instance(module).exports as unknown as Calls;
    this.#buffer(packed.length).set(packed);
    this.size = this.#calls.open(packed.length);
    // It needs its room for the rules.
    this.#view = NO_BYTES;
    if (this.size < 0) throw new WardgateError("malformed-rules", "the rules of the bundle are malformed");
  }

  /** Whether a rule allows the query. */
  allows(query: string | Uint8Array): boolean {
    return this.#checked(this.#calls.allows(this.#put(query))) === 1;
  }

  /** The number of the first rule that allows the query: a list of one, or of none. */
  first(query: string | Uint8Array): Uint32Array {
    return this.#numbers(this.#calls.first(this.#put(query)));
  }

  /** The numbers of all rules that allow the query. */
  matches(query: string | Uint8Array): Uint32Array {
    return this.#numbers(this.#calls.matches(this.#put(query)));
  }

  /** The canonical form of a rule. */
  canonical(rule: number): Uint8Array {
    return this.#answer(this.#calls.canonical(rule));
  }

  /** The advanced form of a rule, which is text. */
  advanced(rule: number): string {
    return new TextDecoder().decode(this.#answer(this.#calls.advanced(rule)));
  }

  #numbers(length: number): Uint32Array {
    return new Uint32Array(this.#answer(this.#checked(length)).buffer);
  }

  /** What the instance said of a query, if it was one. */
  #checked(status: number): number {
    if (status >= 0) return status;
    const offset = this.#calls.wrongAt();
    const message = new TextDecoder().decode(this.#answer(this.#calls.wrong()));
    throw Object.assign(new WardgateError("malformed-query", message), { offset });
  }

  /** A copy of the answer. */
  #answer(length: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#calls.memory.buffer, this.#calls.answer() >>> 0, Math.max(length, 0)).slice();
  }

  /** Writes a query into the room, and returns its length. */
  #put(query: string | Uint8Array): number {
    // A unit of a string is three bytes at most.
    if (typeof query === "string" && query.length * 3 <= MIN_BUFFER_BYTES) return ENCODER.encodeInto(query, this.#buffer(MIN_BUFFER_BYTES)).written;
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
/** What tells the module from others. */
const EXPORTS = ["memory", "room", "answer", "open", "allows", "first", "matches", "canonical", "advanced", "wrong", "wrongAt"];
/** The module keeps so much room at least. */
const MIN_BUFFER_BYTES = 4096;
/** Beyond this no room is asked for: the module could not have it beside what it holds. */
const MAX_BUFFER_BYTES = 2 ** 30;
