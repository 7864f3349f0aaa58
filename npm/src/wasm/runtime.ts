// The one instance of the module, which all PDPs share, and its recovery after a trap.
//
// After a trap the memory of an instance is unreliable. The next call starts a fresh instance from
// the compiled module. Each instance has a generation: a handle of an older one is invalid, and its
// PDP opens its bundle again.

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

  /** The compiled code, for instances elsewhere. */
  get module(): CompiledModule {
    return this.#module;
  }

  /** The number of the instance in use: it grows with every new one. */
  get generation(): number {
    return this.#generation;
  }

  /** Runs calls into the module, and converts their exceptions to the errors for the caller. */
  call<T>(work: () => T): T {
    if (this.#poisoned) this.#restart();
    begin();
    const { isInside } = callState;
    callState.isInside = false;
    this.#depth += 1;
    try {
      const result = work();
      // Code of the caller may have caught the trap of another call.
      if (this.#poisoned) throw failedEarlier();
      return result;
    } catch (thrown) {
      // Code outside of the module threw it, and the instance is intact.
      if (!callState.isInside) throw thrown;
      const refused = refusal(thrown);
      throw refused === undefined ? this.#poison(thrown) : refused.error;
    } finally {
      callState.isInside = isInside;
      this.#depth -= 1;
    }
  }

  /** Throws if the instance trapped in a call within the one in progress. */
  mustBeIntact(): void {
    if (this.#poisoned) throw failedEarlier();
  }

  /** Returns the frame of the instance in use. After a trap it is dead. */
  frame(): Frame {
    return this.#poisoned ? NO_FRAME : frame();
  }

  /** Returns the columns for batches; `null` if there is no memory for them. */
  columns(): Columns | null {
    return this.call(columns);
  }

  /** Converts an exception of the fast path to the error for the caller. */
  failure(thrown: unknown): unknown {
    // Code of the caller threw it while the request was being read.
    if (!callState.isDeciding) return thrown;
    callState.isDeciding = false;
    return this.#poison(thrown);
  }

  #poison(cause: unknown): WardgateError {
    this.#poisoned = true;
    // No frame of the instance may be used for decisions any more.
    detach();
    return internal("the module failed; no decision was made", cause);
  }

  #restart(): void {
    // A getter of a request may call in again. While the outer call is inside the module, its
    // instance cannot be replaced.
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
