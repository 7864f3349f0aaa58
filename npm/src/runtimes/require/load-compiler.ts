// The same as for Node, for the form of the package that `require` loads.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";

export const loader = nodeLoader(() => join(__dirname, "../../../../wasm/wardgate_compiler_bg.wasm"));
