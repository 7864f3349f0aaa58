// The modules of ours and of the rivals, each with its desk: where bytes are laid down for it.

import { createRequire } from "node:module";
import { join } from "node:path";

/** Opens the module of that name, with room for so many bytes on both sides of its desk. */
export function openModule(job, name, input, output) {
  const module = createRequire(import.meta.url)(join(job.modules, name, "module.js"));
  module.reserve(input, output);
  // Calls may let the memory grow, which takes the views away; nothing measured does so after its first call.
  const view = (at, length) => new Uint8Array(module.linear_memory().buffer, at, length);
  return {
    module,
    input: () => view(module.input(), input),
    output: () => view(module.output(), output),
  };
}

/** The modules of the rivals, and what their names say about them. */
export const RIVALS = [
  ["rivals", ""],
  ["rivals-plain", " without SIMD"],
];
