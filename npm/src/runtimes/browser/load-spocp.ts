// Browsers fetch the rules of SPOCP from beside the package, in the form of address that bundlers know.

import { fetchModule } from "../../wasm/code.ts";
import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return fetchModule(new URL("../../../wasm/wardgate_spocp_bg.wasm", import.meta.url));
  },
  loadNow() {
    return undefined;
  },
};
