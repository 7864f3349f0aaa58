// Reads the module of the compiler from a file of the package, in Node, Deno and Bun.

import { nodeLoader } from "./files.ts";

export const loader = nodeLoader(() => new URL("../../../wasm/wardgate_compiler_bg.wasm", import.meta.url));
