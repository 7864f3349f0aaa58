// Workers import the rules of SPOCP: they compile no WebAssembly while they run.

import module from "../../../wasm/wardgate_spocp_bg.wasm";

import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return Promise.resolve(module);
  },
  loadNow() {
    return module;
  },
};
