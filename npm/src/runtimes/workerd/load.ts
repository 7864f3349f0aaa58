// Imports the module, for workerd, which compiles no WebAssembly at run time: modules are compiled
// on deployment. It is the build with vectors, which workerd always supports.

import module from "../../../wasm/wardgate_bg.wasm";

import type { Loader } from "../../wasm/loader.ts";

export const loader: Loader = {
  load() {
    return Promise.resolve(module);
  },
  loadNow() {
    return module;
  },
  openFile() {
    return undefined;
  },
};
