// Imports the module, for edge runtimes whose bundlers compile an import with `?module`. It is the
// one with vectors.

import module from "../../../wasm/wardgate_bg.wasm?module";

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
