// Imports the sequencer of decision logs, for edge runtimes whose bundlers compile an import with `?module`.

import module from "../../../wasm/wardgate_log_sequencer_bg.wasm?module";

import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return Promise.resolve(module);
  },
  loadNow() {
    return module;
  },
};
