// The one runtime of the package. The module is loaded once, by whoever needs it first.

import { loader } from "#load";

import { lackOf } from "./abi.ts";
import { compile, compileNow } from "./code.ts";
import { WardgateError } from "./errors.ts";
import { reason } from "./fetching.ts";
import { Runtime } from "./runtime.ts";
import type { CodeNow, CodeSource } from "./web.ts";

/** Returns the runtime, loading it without holding up anybody else. */
export async function runtime(code?: CodeSource): Promise<Runtime> {
  if (loaded !== undefined) return loaded;
  const module = await (code === undefined ? own() : compile(code));
  // Somebody may not have waited.
  return (loaded ??= runtimeOf(module));
}

/** Returns the runtime at once: the first call reads and compiles the module before it returns. */
export function runtimeNow(code?: CodeNow): Runtime {
  return (loaded ??= runtimeOf(code === undefined ? ownNow() : compileNow(code)));
}

async function own(): Promise<WebAssembly.Module> {
  loading ??= loader.load();
  try {
    return await loading;
  } catch (cause) {
    throw notLoaded(cause);
  } finally {
    // If it failed, the next call tries again.
    loading = undefined;
  }
}

function ownNow(): WebAssembly.Module {
  let module;
  try {
    module = loader.loadNow();
  } catch (cause) {
    throw notLoaded(cause);
  }
  if (module !== undefined) return module;
  const message = "the module is not loaded yet: call `await load()` or `await open(...)` before, or give option `code`";
  throw new WardgateError("not-loaded", message);
}

function notLoaded(cause: unknown): WardgateError {
  const message = `the module of the package cannot be loaded: ${reason(cause)}; option \`code\` takes it from elsewhere`;
  return new WardgateError("not-loaded", message, { cause });
}

function runtimeOf(module: WebAssembly.Module): Runtime {
  const lack = lackOf(module);
  if (lack === undefined) return new Runtime(module);
  throw new WardgateError("wrong-code", `the code is not the module of this version of the package: ${lack}`);
}

let loaded: Runtime | undefined;
let loading: Promise<WebAssembly.Module> | undefined;
