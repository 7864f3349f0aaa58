// Imports the sequencer of decision logs, for workerd, which compiles no WebAssembly at run time.

import module from "../../../wasm/wardgate_log_sequencer_bg.wasm";

import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return Promise.resolve(module);
  },
  loadNow() {
    return module;
  },
};
