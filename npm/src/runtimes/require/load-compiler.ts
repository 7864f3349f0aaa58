// Reads the module of the compiler from a file, in the form of the package for `require`.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";

export const loader = nodeLoader(() => join(__dirname, "../../../wasm/wardgate_compiler_bg.wasm"));
