// Node, Deno and Bun read the rules of SPOCP from the file beside the package.

import { nodeLoader } from "./files.ts";

export const loader = nodeLoader(() => new URL("../../../wasm/wardgate_spocp_bg.wasm", import.meta.url));
