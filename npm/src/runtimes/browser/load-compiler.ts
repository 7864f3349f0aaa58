// Browsers fetch the compiler from beside the package, in the form of address that bundlers know.

import { fetchModule } from "../../wasm/code.ts";
import type { ModuleLoader } from "../../wasm/loader.ts";

export const loader: ModuleLoader = {
  load() {
    return fetchModule(new URL("../../../wasm/wardgate_compiler_bg.wasm", import.meta.url));
  },
};
