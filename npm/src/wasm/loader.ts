// The parts of the package that differ by runtime: finding the code of a module, and reading files.
//
// `#load` is `load.ts` in one of the folders of `runtimes`; `bundle.mjs` chooses it for each runtime,
// and `exports` in `package.json` the built files. All other code is the same on every runtime.
// `#load-compiler`, `#load-spocp`, `#load-mqtt`, `#load-log`, `#load-log-sequencer` and `#load-analysis` are the same for the other modules.

import type { ByteStream } from "../base/web.ts";

export interface Loader extends EagerLoader {
  /**
   * Returns the content of a file; `undefined` on runtimes where `fetch` reads every readable
   * address.
   */
  openFile(address: string): ByteStream | undefined;
}

/** The loader of a module that callers may need synchronously. */
export interface EagerLoader extends ModuleLoader {
  /** Compiles the module synchronously; `undefined` if its code is not available synchronously. */
  loadNow(): WebAssembly.Module | undefined;
}

/** The loader of a module. */
export interface ModuleLoader {
  /** Compiles the module asynchronously. */
  load(): Promise<WebAssembly.Module>;
}
