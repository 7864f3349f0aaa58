// Reads the module of analysis from a file, in the form of the package for `require`.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";

export const loader = nodeLoader(() => join(__dirname, "../../../wasm/wardgate_analysis_bg.wasm"));
