// Imports the module of analysis, for workerd, which compiles no WebAssembly at run time.

import module from "../../../wasm/wardgate_analysis_bg.wasm";

import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return Promise.resolve(module);
  },
};
