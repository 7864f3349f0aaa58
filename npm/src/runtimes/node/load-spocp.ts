// Reads the module of SPOCP from a file of the package, in Node, Deno and Bun.

import { nodeLoader } from "./files.ts";

export const loader = nodeLoader(() => new URL("../../../wasm/wardgate_spocp_bg.wasm", import.meta.url));
