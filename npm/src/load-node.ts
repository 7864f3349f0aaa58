// Node reads the module from the file beside the package.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Compiles the runtime module. */
export async function loadModule(): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await readFile(FILE));
}

/** Compiles the runtime module before it returns. */
export function loadModuleNow(): WebAssembly.Module {
  return new WebAssembly.Module(readFileSync(FILE));
}

const FILE = new URL("../wasm/wardgate_bg.wasm", import.meta.url);
