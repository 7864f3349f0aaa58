// Browsers, and whatever else is like them, fetch the module from beside the package. Bundlers know the form
// of the addresses below, and put the files where they will be found.

import { fetchModule } from "../../wasm/code.ts";
import type { Loader } from "../../wasm/loader.ts";
import { hasSimd } from "../simd.ts";

export const loader: Loader = {
  load() {
    return fetchModule(
      hasSimd()
        ? new URL("../../../wasm/wardgate_bg.wasm", import.meta.url)
        : new URL("../../../wasm/wardgate_nosimd_bg.wasm", import.meta.url),
    );
  },
  loadNow() {
    return undefined;
  },
  openFile() {
    return undefined;
  },
};
