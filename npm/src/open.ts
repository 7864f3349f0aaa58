// Opens bundles. The module is loaded once, by the first call.

import { loadModule } from "./load-node.ts";
import { readOptions, type OpenOptions } from "./options.ts";
import { OpenedPdp } from "./pdp.ts";
import { Runtime } from "./runtime.ts";
import type { Bundle, Pdp } from "./types.ts";

/**
 * Opens a bundle.
 *
 * @throws TypeError for a bundle or an option of the wrong kind, or an option that is not known.
 * @throws RangeError for an option of the right kind with a value that is not possible.
 * @throws WardgateError with the code `bundle` when the bytes are not a bundle that may be opened.
 *
 * @example
 *     const pdp = await open(await readFile("album.bundle"), { trust: "unsigned" });
 *     pdp.isAllowed({ principal: { id: "ada", roles: ["user"] }, action: "view", resource });
 */
export async function open(bundle: Bundle, options: OpenOptions): Promise<Pdp> {
  const settings = readOptions(options);
  return new OpenedPdp(await runtime(), bundle, settings);
}

let loading: Promise<Runtime> | undefined;

async function runtime(): Promise<Runtime> {
  loading ??= loadModule().then((module) => new Runtime(module));
  try {
    return await loading;
  } catch (error) {
    // The next call tries again.
    loading = undefined;
    throw error;
  }
}
