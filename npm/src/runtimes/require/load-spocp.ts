// Reads the module of SPOCP from a file, in the form of the package for `require`.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";

export const loader = nodeLoader(() => join(__dirname, "../../../wasm/wardgate_spocp_bg.wasm"));
