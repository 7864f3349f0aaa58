// Node reads the module from the file beside the package.

import { readFile } from "node:fs/promises";

/** Compiles the runtime module. */
export async function loadModule(): Promise<WebAssembly.Module> {
  const bytes = await readFile(new URL("../wasm/wardgate_bg.wasm", import.meta.url));
  return WebAssembly.compile(bytes);
}
