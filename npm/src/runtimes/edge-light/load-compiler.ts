// Imports the module of the compiler, for edge runtimes whose bundlers compile an import with
// `?module`.

import module from "../../../wasm/wardgate_compiler_bg.wasm?module";

import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return Promise.resolve(module);
  },
};
