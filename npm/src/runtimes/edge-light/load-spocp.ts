// The same as for workerd, for edge runtimes whose bundlers import a module that was compiled by this name.

import module from "../../../wasm/wardgate_spocp_bg.wasm?module";

import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return Promise.resolve(module);
  },
  loadNow() {
    return module;
  },
};
