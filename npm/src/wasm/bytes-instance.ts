// An instance of a module whose calls take and return numbers; bytes cross in a buffer of the instance.

import { WardgateError } from "../base/errors.ts";

/** The calls of each such module. */
export interface BytesCalls {
  readonly memory: WebAssembly.Memory;
  readonly room: (length: number) => number;
  readonly words: () => number;
}

export class BytesInstance<Calls extends BytesCalls> {
  /** True after a trap. */
  isLost = false;
  protected readonly calls: Calls;
  readonly #mostBytes: number;
  readonly #name: string;
  /** The view of the buffer, until it moves; a growing memory detaches it. */
  #view: Uint8Array = NO_BYTES;

  /** Makes an instance whose buffer has `mostBytes` at most. Messages call the module `name`. */
  constructor(module: WebAssembly.Module, mostBytes: number, name: string) {
    this.#name = name;
    this.calls = new WebAssembly.Instance(module).exports as unknown as Calls;
    this.#mostBytes = mostBytes;
  }

  /** Writes bytes into the buffer, one behind the other. */
  protected put(...parts: readonly Uint8Array[]): void {
    const view = this.#buffer(parts.reduce((length, part) => length + part.length, 0));
    let at = 0;
    for (const part of parts) {
      view.set(part, at);
      at += part.length;
    }
  }

  #buffer(length: number): Uint8Array {
    const wanted = Math.max(length, MIN_BUFFER_BYTES);
    if (this.#view.length === wanted) return this.#view;
    const address = wanted > this.#mostBytes ? 0 : this.#guarded(() => this.calls.room(wanted)) >>> 0;
    if (address === 0) throw new RangeError(`there is no room for ${length} bytes in the module`);
    return (this.#view = new Uint8Array(this.calls.memory.buffer, address, wanted));
  }

  /** Makes a call, and returns its result. */
  protected called(call: () => number): number {
    const status = this.#guarded(call);
    // The call may have made the memory grow.
    if (this.#view.buffer !== this.calls.memory.buffer) this.#view = NO_BYTES;
    return status;
  }

  #guarded(call: () => number): number {
    try {
      return call();
    } catch (cause) {
      this.isLost = true;
      throw new WardgateError("internal", `${this.#name} failed`, { cause });
    }
  }

  /** Returns a copy of the answer. */
  protected answer(): Uint8Array<ArrayBuffer> {
    const { buffer } = this.calls.memory;
    return new Uint8Array(new Uint8Array(buffer, this.word(0), this.word(1)));
  }

  /** Returns a word beside the result of a call. */
  protected word(index: number): number {
    return new DataView(this.calls.memory.buffer).getUint32((this.calls.words() >>> 0) + 4 * index, true);
  }
}

const NO_BYTES = new Uint8Array();
/** The smallest size of the buffer in the module. */
const MIN_BUFFER_BYTES = 8192;
