// Loads the code of a module once, for all callers.

import { WardgateError } from "../base/errors.ts";
import { reason } from "../base/responses.ts";
import type { EagerLoader, ModuleLoader } from "./loader.ts";

/** The words for a module in error messages. */
export interface LoaderNames {
  /** The name of the module, as in "the module of SPOCP". */
  readonly name: string;
  /** The call or option that supplies the code from another source. */
  readonly elsewhere: string;
}

/** A loader that callers share while the code arrives. */
export class SharedLoader<L extends ModuleLoader> {
  readonly #loader: L;
  readonly #names: LoaderNames;
  #coming: Promise<WebAssembly.Module> | undefined;

  constructor(loader: L, names: LoaderNames) {
    this.#loader = loader;
    this.#names = names;
  }

  /** Loads the code asynchronously. */
  async load(): Promise<WebAssembly.Module> {
    this.#coming ??= this.#loader.load();
    try {
      return await this.#coming;
    } catch (cause) {
      throw this.#failed(cause);
    } finally {
      // After a failure the next call tries again.
      this.#coming = undefined;
    }
  }

  /** Loads the code synchronously. If that is impossible, the error message is `early`. */
  loadNow(this: SharedLoader<EagerLoader>, early: string): WebAssembly.Module {
    let module;
    try {
      module = this.#loader.loadNow();
    } catch (cause) {
      throw this.#failed(cause);
    }
    if (module !== undefined) return module;
    throw new WardgateError("not-loaded", early);
  }

  #failed(cause: unknown): WardgateError {
    const { name, elsewhere } = this.#names;
    const message = `${name} cannot be loaded: ${reason(cause)}; ${elsewhere} supplies it from another source`;
    return new WardgateError("not-loaded", message, { cause });
  }
}
