// Compiles the code of a module, from the caller or the network.

import { bytesOf, describe, isModule, isPromise, isResponse, membersOf } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { awaitResponse, mediaType, mustBeOk, mustNotBePage, reason, addressForMessage } from "../base/responses.ts";
import { ignoreRejection, type CodeNow, type CodeSource, type FetchResponse } from "../base/web.ts";

/** Compiles the code of a caller. */
export async function compile(code: CodeSource): Promise<WebAssembly.Module> {
  if (isModule(code)) return code;
  const bytes = bytesOf(code);
  if (bytes !== undefined) return compiled(WebAssembly.compile(unsharedBytes(bytes)), GIVEN);
  if (isResponse(code)) return compileResponse(code, "the response");
  if (isPromise(code)) return compileResponse(await awaitResponse(code, "the code"), "the response");
  throw new TypeError(`option \`code\` must be a WebAssembly.Module, a Response or bytes, found ${describe(code)}`);
}

/**
 * Returns the difference between code and a module that has these exports and imports only values
 * for which `given` returns true; `undefined` if there is none.
 */
export function mismatchOf(
  code: WebAssembly.Module,
  exported: readonly string[],
  given: (wanted: WebAssembly.ModuleImportDescriptor) => boolean,
): string | undefined {
  const offered = new Set(WebAssembly.Module.exports(code).map(({ name }) => name));
  const missing = exported.find((name) => !offered.has(name));
  if (missing !== undefined) return `it has no \`${missing}\``;
  const wanted = WebAssembly.Module.imports(code).find((wanted) => !given(wanted));
  return wanted === undefined ? undefined : `it imports \`${wanted.name}\` from \`${wanted.module}\``;
}

/** Reads options whose only member is `code`. */
export function readLoad(options: unknown): CodeSource | undefined {
  const members = membersOf(options);
  if (members === undefined) throw new TypeError(`options must be an object, found ${describe(options)}`);
  const code = members.get("code");
  ignoreRejection(code);
  for (const name of members.keys()) {
    if (name !== "code") throw new TypeError(`unknown option \`${name}\`, expected code`);
  }
  return code as CodeSource | undefined;
}

/** Compiles code synchronously. */
export function compileNow(code: CodeNow): WebAssembly.Module {
  if (isModule(code)) return code;
  const bytes = bytesOf(code);
  if (bytes === undefined) {
    throw new TypeError(`option \`code\` must be a WebAssembly.Module or bytes, found ${describe(code)}`);
  }
  try {
    return new WebAssembly.Module(unsharedBytes(bytes));
  } catch (cause) {
    throw refused(GIVEN, cause);
  }
}

/** Fetches and compiles the code at an address. */
export async function fetchModule(address: URL): Promise<WebAssembly.Module> {
  const name = addressForMessage(address.href);
  return compileResponse(await awaitResponse(fetch(address), name), name);
}

async function compileResponse(response: FetchResponse, name: string): Promise<WebAssembly.Module> {
  if (response.bodyUsed) throw new TypeError(`the body of ${name} has been read before`);
  mustBeOk(response, name);
  mustNotBePage(response, name, "wrong-code");
  // Streaming compilation requires a response of the runtime's own class, and the right media type.
  if (response instanceof Response && mediaType(response) === "application/wasm" && canStream()) {
    return compiled(WebAssembly.compileStreaming(response), name);
  }
  let bytes;
  try {
    bytes = await response.arrayBuffer();
  } catch (cause) {
    throw brokenOff(name, cause);
  }
  return compiled(WebAssembly.compile(bytes), name);
}

function canStream(): boolean {
  return typeof WebAssembly.compileStreaming === "function";
}

async function compiled(module: Promise<WebAssembly.Module>, name: string): Promise<WebAssembly.Module> {
  try {
    return await module;
  } catch (cause) {
    throw cause instanceof WebAssembly.CompileError ? refused(name, cause) : brokenOff(name, cause);
  }
}

function brokenOff(name: string, cause: unknown): WardgateError {
  return new WardgateError("not-fetched", `${name} broke off: ${reason(cause)}`, { cause });
}

function refused(name: string, cause: unknown): WardgateError {
  return new WardgateError("wrong-code", `${name} holds no code that runs here: ${reason(cause)}`, { cause });
}

/** Returns bytes in unshared memory, which a compiler requires. */
function unsharedBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

const GIVEN = "the option `code`";
