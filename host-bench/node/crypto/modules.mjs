// The modules of ours and of the rivals, each with its buffers, through which bytes are exchanged.

import { createRequire } from "node:module";
import { join } from "node:path";

/** Opens the module of that name, with buffers of this many bytes in each direction. */
export function openModule(job, name, input, output) {
  const module = createRequire(import.meta.url)(join(job.modules, name, "module.js"));
  module.reserve(input, output);
  // Calls may let the memory grow, which takes the views away; no measured call does so after the first one.
  const view = (at, length) => new Uint8Array(module.linear_memory().buffer, at, length);
  return {
    module,
    input: () => view(module.input(), input),
    output: () => view(module.output(), output),
  };
}

/** The modules of the rivals, and the additions to their names in a report. */
export const RIVALS = [
  ["rivals", ""],
  ["rivals-plain", " without SIMD"],
];
