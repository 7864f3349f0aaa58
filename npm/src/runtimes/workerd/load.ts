// Workers compile nothing while they run: the module was compiled when they were deployed, and is imported.
// It is the one with vectors, which workerd always has.

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
