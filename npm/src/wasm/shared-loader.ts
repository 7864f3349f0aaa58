// How the code of a module comes into the package: once, for whoever needs it first.

import { WardgateError } from "../base/errors.ts";
import { reason } from "../base/responses.ts";
import type { EagerLoader, ModuleLoader } from "./loader.ts";

/** What a caller is told of a module that does not come. */
export interface LoaderNames {
  /** Which one, as in "the module of SPOCP". */
  readonly name: string;
  /** What takes it from elsewhere. */
  readonly elsewhere: string;
}

/** Code on its way. */
export class SharedLoader<L extends ModuleLoader> {
  readonly #loader: L;
  readonly #names: LoaderNames;
  #coming: Promise<WebAssembly.Module> | undefined;

  constructor(loader: L, names: LoaderNames) {
    this.#loader = loader;
    this.#names = names;
  }

  /** Loads it without holding up anybody else. */
  async load(): Promise<WebAssembly.Module> {
    this.#coming ??= this.#loader.load();
    try {
      return await this.#coming;
    } catch (cause) {
      throw this.#failed(cause);
    } finally {
      // If it failed, the next call tries again.
      this.#coming = undefined;
    }
  }

  /** Loads it before this returns; where that cannot be, `early` says what has to come before. */
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
    const message = `${name} cannot be loaded: ${reason(cause)}; ${elsewhere} takes it from elsewhere`;
    return new WardgateError("not-loaded", message, { cause });
  }
}
