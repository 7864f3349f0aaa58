// Fetches the module of analysis, for browsers. Bundlers recognise this form of address.

import { fetchModule } from "../../wasm/code.ts";
import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return fetchModule(new URL("../../../wasm/wardgate_analysis_bg.wasm", import.meta.url));
  },
};
