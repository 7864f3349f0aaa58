// Imports the module of analysis, for edge runtimes whose bundlers compile an import with
// `?module`.

import module from "../../../wasm/wardgate_analysis_bg.wasm?module";

import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return Promise.resolve(module);
  },
};
