// The same as for workerd, for edge runtimes whose bundlers import a module that was compiled by this name.

import module from "../../../wasm/wardgate_compiler_bg.wasm?module";

import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return Promise.resolve(module);
  },
};
