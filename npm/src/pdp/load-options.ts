// The options for loading a module.
//
// They are in a file of their own: public types must not need the namespace `WebAssembly`, which
// programs without the declarations of a browser lack.

import type { CodeSource } from "../base/web.ts";

/** The options of `load`, `spocp.load`, `mqtt.load` and `load` of `wardgate/log`. */
export interface LoadOptions {
  /** The code of the module, as for `open`. */
  readonly code?: CodeSource | undefined;
}
