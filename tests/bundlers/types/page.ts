// A program of a bundler, with the declarations of browsers.

import { load, open, type BundleSource, type Pdp } from "wardgate";
import { response, type Guard } from "wardgate/ratelimit";
import module from "wardgate/wasm";
import plain from "wardgate/wasm/nosimd";

const sources: readonly BundleSource[] = [
  new Uint8Array(),
  new ArrayBuffer(1),
  new Response(),
  fetch("policies.wardgate"),
  new URL("policies.wardgate", location.href),
  new Response().body!,
];
const pdps: Promise<readonly Pdp[]> = Promise.all(sources.map((it) => open(it, { trust: "unsigned", code: module })));
const loaded: Promise<void> = load({ code: WebAssembly.compileStreaming(fetch("module")).then(() => new Response()) });
const modules: readonly WebAssembly.Module[] = [module, plain];
const refusal = async (guard: Guard): Promise<Response | undefined> => response(await guard.charge([]));

export { loaded, modules, pdps, refusal };
