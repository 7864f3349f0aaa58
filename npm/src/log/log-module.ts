// The one instance of the module of the decision log.

import { loader } from "#load-log";

import { WardgateError } from "../base/errors.ts";
import type { LoadOptions } from "../pdp/load-options.ts";
import { compile } from "../wasm/code.ts";
import { SharedLoader } from "../wasm/shared-loader.ts";
import { LogInstance, logMismatch } from "./log-abi.ts";

/** Loads the module. Further calls do nothing. */
export async function loadLog(code: LoadOptions["code"]): Promise<void> {
  if (loaded !== undefined) return;
  const module = known(await (code === undefined ? own.load() : compile(code)));
  // Another call may have loaded it in the meantime.
  loaded ??= module;
}

/** Returns the instance of the module, which was loaded; after a trap, another one. */
export function logInstance(): LogInstance {
  if (started === undefined || started.isLost) started = new LogInstance(loaded!);
  return started;
}

function known(module: WebAssembly.Module): WebAssembly.Module {
  const lack = logMismatch(module);
  if (lack === undefined) return module;
  throw new WardgateError("wrong-code", `the code is not the module of the decision log of this version of the package: ${lack}`);
}

let loaded: WebAssembly.Module | undefined;
let started: LogInstance | undefined;
const own = new SharedLoader(loader, { name: "the module of the decision log", elsewhere: "`load({ code })` of `wardgate/log`" });
