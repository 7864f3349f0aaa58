// The same as for workerd, for edge runtimes whose bundlers import a module that was compiled by this name.

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
