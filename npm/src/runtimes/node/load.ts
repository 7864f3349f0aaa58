// Reads the module from a file of the package, in Node, Deno and Bun.

import { nodeLoader } from "./files.ts";
import { hasSimd } from "../simd.ts";

// A bundled program may have no address of this file. That is an error only if the module is
// loaded.
export const loader = nodeLoader(() =>
  hasSimd()
    ? new URL("../../../wasm/wardgate_bg.wasm", import.meta.url)
    : new URL("../../../wasm/wardgate_nosimd_bg.wasm", import.meta.url),
);
