// Imports the module of SPOCP, for edge runtimes whose bundlers compile an import with `?module`.

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
