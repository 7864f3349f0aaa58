// Reads the module of analysis from a file of the package, in Node, Deno and Bun.

import { nodeLoader } from "./files.ts";

export const loader = nodeLoader(() => new URL("../../../wasm/wardgate_analysis_bg.wasm", import.meta.url));
