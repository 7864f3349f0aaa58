// The one instance of the module, shared by every PDP, and what happens when it traps.
//
// After a trap the memory of an instance proves nothing any more. The next call starts a fresh one from
// the compiled module. Each instance has a generation: a handle of an older one
// means nothing, and its PDP opens its bundle again.

import { columns, detach, frame, start } from "./abi.ts";
import { WardgateError } from "../base/errors.ts";
import { NO_FRAME, type Columns, type Frame } from "./frame.ts";
import { refusal } from "../base/refusal.ts";
import { begin, callState } from "./reentrancy.ts";
import type { CompiledModule } from "../base/web.ts";

export class Runtime {
  readonly #module: CompiledModule;
  #generation = 0;
  #depth = 0;
  #poisoned = false;

  constructor(module: CompiledModule) {
    this.#module = module;
    start(module);
  }

  /** The code, for those who start instances elsewhere. */
  get module(): CompiledModule {
    return this.#module;
  }

  /** Which instance is in use: it grows with every new one. */
  get generation(): number {
    return this.#generation;
  }

  /** Runs calls into the module and turns what they throw into what the caller of the package sees. */
  call<T>(work: () => T): T {
    if (this.#poisoned) this.#restart();
    begin();
    const { isInside } = callState;
    callState.isInside = false;
    this.#depth += 1;
    try {
      const result = work();
      // Code of the caller may have kept a trap of another call to itself.
      if (this.#poisoned) throw failedEarlier();
      return result;
    } catch (thrown) {
      // Code outside of the module threw it, and left the instance as it was.
      if (!callState.isInside) throw thrown;
      const refused = refusal(thrown);
      throw refused === undefined ? this.#poison(thrown) : refused.error;
    } finally {
      callState.isInside = isInside;
      this.#depth -= 1;
    }
  }

  /** The frame of the instance in use. It is dead when that one failed. */
  frame(): Frame {
    return this.#poisoned ? NO_FRAME : frame();
  }

  /** The columns for batches; `null` if there is no room for them. */
  columns(): Columns | null {
    return this.call(columns);
  }

  /** What the caller of the package sees of an exception while a request was decided by the frame. */
  failure(thrown: unknown): unknown {
    // Code of the caller threw it while the request was being read.
    if (!callState.isDeciding) return thrown;
    callState.isDeciding = false;
    return this.#poison(thrown);
  }

  #poison(cause: unknown): WardgateError {
    this.#poisoned = true;
    // No frame of the instance may be decided on any more.
    detach();
    return internal("the module failed; nothing was decided", cause);
  }

  #restart(): void {
    // A getter of a request may call in again. While the outer call is still inside the module, its
    // instance cannot be exchanged.
    if (this.#depth > 0) throw failedEarlier();
    start(this.#module);
    this.#generation += 1;
    this.#poisoned = false;
  }
}

function failedEarlier(): WardgateError {
  return internal("the module failed earlier in this call", undefined);
}

function internal(message: string, cause: unknown): WardgateError {
  return new WardgateError("internal", message, { cause });
}
