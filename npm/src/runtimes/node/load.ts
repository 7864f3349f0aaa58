// Node, Deno and Bun read the module from the file beside the package.

import { nodeLoader } from "./files.ts";
import { hasSimd } from "../simd.ts";

// In a program that was bundled there may be no address of this file, and nobody minds before it is needed.
export const loader = nodeLoader(() =>
  hasSimd()
    ? new URL("../../../wasm/wardgate_bg.wasm", import.meta.url)
    : new URL("../../../wasm/wardgate_nosimd_bg.wasm", import.meta.url),
);
