// The parts of the main entry that other entries use: not part of the public API.
//
// Each entry is one file. State and classes must exist once in a program, so the files of other
// entries import them from the main entry of their runtime: see `bundle.mjs`.

import * as accessors from "./fast/accessors.ts";
import { OpenedPdp } from "./pdp/pdp.ts";
import { runtime } from "./wasm/module.ts";

export const internals = { accessors, OpenedPdp, runtime };
