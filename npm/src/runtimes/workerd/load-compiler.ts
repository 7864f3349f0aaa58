// Imports the module of the compiler, for workerd, which compiles no WebAssembly at run time.

import module from "../../../wasm/wardgate_compiler_bg.wasm";

import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return Promise.resolve(module);
  },
};
