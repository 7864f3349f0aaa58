// The module of analysis: loaded by the first call, and then started once for each index.

import { loader } from "#load-analysis";

import { WardgateError } from "../base/errors.ts";
import type { CodeSource } from "../base/web.ts";
import { compile } from "../wasm/code.ts";
import { SharedLoader } from "../wasm/shared-loader.ts";
import { analysisMismatch, AnalysisInstance } from "./analysis-abi.ts";

/** Starts an instance, with the code of a caller if none was loaded before. */
export async function start(code: unknown): Promise<AnalysisInstance> {
  if (loaded === undefined) {
    const module = await (code === undefined ? own.load() : compile(code as CodeSource));
    const lack = analysisMismatch(module);
    if (lack !== undefined) throw new WardgateError("wrong-code", `the code is not the module of analysis of this version of the package: ${lack}`);
    // Another call may have loaded it in the meantime.
    loaded ??= module;
  }
  return startAgain();
}

/** Starts another instance of the module, which was loaded. */
export function startAgain(): AnalysisInstance {
  return new AnalysisInstance(loaded!);
}

let loaded: WebAssembly.Module | undefined;
const own = new SharedLoader(loader, { name: "the module of analysis", elsewhere: "option `code`" });
