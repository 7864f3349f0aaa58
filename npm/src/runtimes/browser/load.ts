// Fetches the module, for browsers and similar runtimes. Bundlers recognise this form of address,
// and copy the files.

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
