// Node, Deno and Bun read the compiler from the file beside the package.

import { nodeLoader } from "./files.ts";

export const loader = nodeLoader(() => new URL("../../../wasm/wardgate_compiler_bg.wasm", import.meta.url));
