// What differs from runtime to runtime: how the package finds the code of its module, and whether there are
// files.
//
// `#load` is one of the files `load-<runtime>.ts`; `imports` in `package.json` chooses it by the conditions
// of the runtime or bundler. Everything else of the package is the same everywhere. `#load-compiler` and
// `#load-spocp` are the same for the other modules.

import type { ByteStream } from "../base/web.ts";

export interface Loader extends EagerLoader {
  /** The content of a file; `undefined` where `fetch` reads whatever can be read. */
  openFile(address: string): ByteStream | undefined;
}

/** What a module needs that a caller may want at once. */
export interface EagerLoader extends ModuleLoader {
  /** Compiles it before it returns; `undefined` where code cannot be had at once. */
  loadNow(): WebAssembly.Module | undefined;
}

/** What every module needs. */
export interface ModuleLoader {
  /** Compiles the module of the package without holding up anybody else. */
  load(): Promise<WebAssembly.Module>;
}
