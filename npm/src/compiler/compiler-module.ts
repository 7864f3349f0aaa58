// The module of the compiler: loaded by the first call, with one instance at a time.
//
// Calls are independent of each other. So an instance is dropped after a trap, and also after its
// memory has grown large: memory of WebAssembly never shrinks.

import { loader } from "#load-compiler";

import * as glue from "../../wasm/wardgate_compiler_bg.js";

import { compile } from "../wasm/code.ts";
import type { Compiled, Formatted, Tested } from "./compiler.ts";
import type { Settings } from "./compiler-options.ts";
import { WardgateError } from "../base/errors.ts";
import { reason } from "../base/responses.ts";
import { SharedLoader } from "../wasm/shared-loader.ts";
import { refusal } from "../base/refusal.ts";
import type { CodeSource } from "../base/web.ts";

/** Files as the module takes them. */
export type Files = readonly (readonly [path: string, contents: Uint8Array])[];

/** The output of a test run, with the results as JSON. */
export type TestRun = Omit<Tested, "results"> & { readonly results?: string };

/** Compiles files in the module. */
export async function run(files: Files, settings: Settings): Promise<Compiled & { readonly types?: string }> {
  return (await callModule(settings, (moduleOptions) => glue.compile(files, moduleOptions))) as Compiled & { readonly types?: string };
}

/** Runs tests in the module. */
export async function runTests(files: Files, settings: Settings): Promise<TestRun> {
  return (await callModule(settings, (moduleOptions) => glue.test(files, moduleOptions))) as TestRun;
}

/** Formats a file in the module. */
export async function runFormat(file: Files[number], settings: Settings): Promise<Formatted> {
  return (await callModule(settings, () => glue.format(file))) as Formatted;
}

/** Calls an instance of the module. */
async function callModule({ code, moduleOptions }: Settings, act: (moduleOptions: Settings["moduleOptions"]) => unknown): Promise<unknown> {
  if (known === undefined) {
    const loaded = await (code === undefined ? own.load() : compile(code as CodeSource));
    // Another call may have loaded it in the meantime.
    known ??= loaded;
  }
  // No `await` from here to the call, so another call cannot drop the instance.
  if (active === undefined) use(await started(known));
  return call(() => act(moduleOptions));
}

async function started(code: WebAssembly.Module): Promise<WebAssembly.Instance> {
  try {
    const instance = await WebAssembly.instantiate(code, { [GLUE]: { ...glue } });
    const missing = EXPORTS.find((name) => !(name in instance.exports));
    if (missing === undefined) return instance;
    throw new Error(`it has no \`${missing}\``);
  } catch (cause) {
    if (known === code) known = undefined;
    const message = `the code is not the compiler of this version of the package: ${reason(cause)}`;
    throw new WardgateError("wrong-code", message, { cause });
  }
}

function use(instance: WebAssembly.Instance): void {
  drop();
  active = instance.exports as unknown as Exports;
  glue.__wbg_set_wasm(instance.exports);
  active.__wbindgen_start();
}

function call(act: () => unknown): unknown {
  try {
    return act();
  } catch (thrown) {
    const refused = refusal(thrown);
    if (refused !== undefined) throw refused.error;
    drop();
    throw new WardgateError("internal", "the compiler failed; there is no answer", { cause: thrown });
  } finally {
    if (active !== undefined && active.memory.buffer.byteLength > MAX_IDLE_BYTES) drop();
  }
}

/**
 * Drops the instance and every view of its memory in the glue: growing the memory detaches them.
 */
function drop(): void {
  active?.memory.grow(0);
  glue.__wbg_set_wasm({});
  active = undefined;
}

interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __wbindgen_start: () => void;
}

let known: WebAssembly.Module | undefined;
let active: Exports | undefined;

const own = new SharedLoader(loader, { name: "the module of the compiler", elsewhere: "option `code`" });

/** The exports that identify the module. */
const EXPORTS = ["memory", "compile", "test", "format", "__wbindgen_start"];
/** The name under which the module imports its glue. */
const GLUE = "./wardgate_compiler_bg.js";
/** The memory of an instance that is kept: enough for a few thousand policies. */
const MAX_IDLE_BYTES = 2 ** 26;
