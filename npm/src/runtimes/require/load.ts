// The same as for Node, for the form of the package that `require` loads. The modules are those of the other
// form.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";
import { hasSimd } from "../simd.ts";

export const loader = nodeLoader(() =>
  join(__dirname, "../../../../wasm", hasSimd() ? "wardgate_bg.wasm" : "wardgate_nosimd_bg.wasm"),
);
