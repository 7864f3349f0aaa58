// The sources of the compiler's code: the package or the caller.

import { readFileSync } from "node:fs";

import { beforeEach, expect, it, vi } from "vitest";

import type { LintOptions } from "./compiler.ts";

const wasm = new URL("../../wasm/", import.meta.url);
const code = readFileSync(new URL("wardgate_compiler_bg.wasm", wasm));

let lint: (typeof import("./compiler.ts"))["lint"];
beforeEach(async () => {
  // Each test starts without a module.
  vi.resetModules();
  ({ lint } = await import("./compiler.ts"));
});

async function codes(options?: LintOptions): Promise<readonly string[]> {
  return (await lint({}, options)).map(({ code }) => code);
}

const type = { headers: { "content-type": "application/wasm" } };
const ways: readonly (readonly [string, () => unknown])[] = [
  ["compiled", () => new WebAssembly.Module(code)],
  ["bytes", () => new Uint8Array(code)],
  ["a response", () => new Response(code, type)],
  ["a promise of a response", () => Promise.resolve(new Response(code))],
];

it.each(ways)("may be handed in as %s, and is used from then on", async (_, given) => {
  expect(await codes({ code: given() } as LintOptions)).toEqual(["no-policies"]);
  expect(await codes({ code: "not looked at" } as object)).toEqual(["no-policies"]);
  // This rejection does not end the process either.
  expect(await codes({ code: Promise.reject(new Error("gone")) })).toEqual(["no-policies"]);
  expect(await codes()).toEqual(["no-policies"]);
});

it("is refused if it is not the compiler, and may be given again", async () => {
  const runtime = readFileSync(new URL("wardgate_nosimd_bg.wasm", wasm));
  const empty = code.subarray(0, 8);
  for (const wrong of [runtime, empty, code.subarray(0, 1000), new Uint8Array()]) {
    await expect(codes({ code: new Uint8Array(wrong) })).rejects.toMatchObject({ code: "wrong-code" });
  }
  const message = "option `code` must be a WebAssembly.Module, a Response or bytes, found string";
  await expect(codes({ code: "wasm" } as object)).rejects.toThrow(new TypeError(message));
  const gone = Promise.reject(new Error("gone"));
  await expect(codes({ code: gone })).rejects.toMatchObject({ code: "not-fetched" });
  expect(await codes()).toEqual(["no-policies"]);
});

it("is loaded once by many calls at once", async () => {
  const all = await Promise.all(Array.from({ length: 10 }, () => codes()));
  expect(all.flat()).toEqual(Array.from({ length: 10 }, () => "no-policies"));
});
