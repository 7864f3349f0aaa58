// Queries to the rules of SPOCP in a bundle: the entry `wardgate/spocp`.
//
// The rules run in a module of their own, which is loaded only with the option `spocp` of `open`.
// The runtime verifies the rules of a bundle with its policies.

import { loader } from "#load-spocp";

import { compile, readLoad } from "../wasm/code.ts";
import type { LoadOptions } from "../pdp/load-options.ts";
import { WardgateError } from "../base/errors.ts";
import { SharedLoader } from "../wasm/shared-loader.ts";
import { rulesMismatch } from "./spocp-abi.ts";
import { OpenedRules } from "./spocp-rules.ts";
import type { RuleReader, SpocpModule } from "../pdp/spocp-types.ts";

export { WardgateError, type Code } from "../base/errors.ts";
export type { LoadOptions } from "../pdp/load-options.ts";
export type { SpocpModule, SpocpQuery, SpocpRule, SpocpRules } from "../pdp/spocp-types.ts";
export type { SpocpPdp } from "../pdp/types.ts";

/**
 * The module of SPOCP. With it a PDP answers queries by the rules of SPOCP in its bundle.
 *
 * @example
 *     import { open } from "wardgate";
 *     import { spocp } from "wardgate/spocp";
 *
 *     const pdp = await open(new URL("album.bundle", import.meta.url), { trust, spocp });
 *     pdp.spocp.query("(http (page index.html) (action GET) (user ada))");
 */
export const spocp: SpocpModule = {
  async load(options: LoadOptions = {}) {
    await loadedModule(readLoad(options));
  },
  async ready() {
    return readerOf(await loadedModule(undefined));
  },
  readyNow() {
    return readerOf((loaded ??= known(own.loadNow(EARLY))));
  },
};

function readerOf(module: WebAssembly.Module): RuleReader {
  return (packed, isExpired) => new OpenedRules(module, packed, isExpired);
}

async function loadedModule(code: LoadOptions["code"]): Promise<WebAssembly.Module> {
  if (loaded !== undefined) return loaded;
  const module = known(await (code === undefined ? own.load() : compile(code)));
  // Another call may have loaded it in the meantime.
  return (loaded ??= module);
}

function known(module: WebAssembly.Module): WebAssembly.Module {
  const lack = rulesMismatch(module);
  if (lack === undefined) return module;
  throw new WardgateError("wrong-code", `the code is not the module of SPOCP of this version of the package: ${lack}`);
}

let loaded: WebAssembly.Module | undefined;
const own = new SharedLoader(loader, { name: "the module of SPOCP", elsewhere: "`spocp.load({ code })`" });
const EARLY = "the module of SPOCP is not loaded yet: call `await spocp.load()` or `await open(...)` before";
