// The one runtime of the package. The module is loaded once, on first use.

import { loader } from "#load";

import { runtimeMismatch } from "./abi.ts";
import { compile, compileNow } from "./code.ts";
import { WardgateError } from "../base/errors.ts";
import { SharedLoader } from "./shared-loader.ts";
import { Runtime } from "./runtime.ts";
import type { CodeNow, CodeSource } from "../base/web.ts";

/** Returns the runtime, and loads it asynchronously if necessary. */
export async function runtime(code?: CodeSource): Promise<Runtime> {
  if (loaded !== undefined) return loaded;
  const module = await (code === undefined ? own.load() : compile(code));
  // Another call may have loaded it in the meantime.
  return (loaded ??= runtimeOf(module));
}

/** Returns the runtime synchronously. The first call reads and compiles the module. */
export function runtimeNow(code?: CodeNow): Runtime {
  return (loaded ??= runtimeOf(code === undefined ? own.loadNow(EARLY) : compileNow(code)));
}

function runtimeOf(module: WebAssembly.Module): Runtime {
  const lack = runtimeMismatch(module);
  if (lack === undefined) return new Runtime(module);
  throw new WardgateError("wrong-code", `the code is not the module of this version of the package: ${lack}`);
}

let loaded: Runtime | undefined;
const own = new SharedLoader(loader, { name: "the module of the package", elsewhere: "option `code`" });
const EARLY = "the module is not loaded yet: call `await load()` or `await open(...)` before, or give option `code`";
