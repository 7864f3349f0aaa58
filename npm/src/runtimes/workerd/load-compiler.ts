// Workers import the compiler: they compile no WebAssembly while they run.

import module from "../../../wasm/wardgate_compiler_bg.wasm";

import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return Promise.resolve(module);
  },
};
