// Reads the module from a file, in the form of the package for `require`. Both forms share the
// files of modules.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";
import { hasSimd } from "../simd.ts";

export const loader = nodeLoader(() =>
  join(__dirname, hasSimd() ? "../../../wasm/wardgate_bg.wasm" : "../../../wasm/wardgate_nosimd_bg.wasm"),
);
