// The one runtime of the package. The module is loaded once, by whoever needs it first.

import { loadModule, loadModuleNow } from "./load-node.ts";
import { Runtime } from "./runtime.ts";

/** Returns the runtime, loading it without holding up anybody else. */
export async function runtime(): Promise<Runtime> {
  if (loaded !== undefined) return loaded;
  loading ??= loadModule();
  try {
    const module = await loading;
    // Somebody may not have waited.
    loaded ??= new Runtime(module);
    return loaded;
  } finally {
    // If it failed, the next call tries again.
    loading = undefined;
  }
}

/** Returns the runtime at once: the first call reads and compiles the module before it returns. */
export function runtimeNow(): Runtime {
  loaded ??= new Runtime(loadModuleNow());
  return loaded;
}

let loaded: Runtime | undefined;
let loading: Promise<WebAssembly.Module> | undefined;
