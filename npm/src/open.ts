// Opens bundles.

import { runtime } from "./module.ts";
import { readOptions, type OpenOptions } from "./options.ts";
import { OpenedPdp } from "./pdp.ts";
import type { Bundle, Pdp } from "./types.ts";

/**
 * Opens a bundle, if those whom you trust have signed it.
 *
 * @throws TypeError for a bundle or an option of the wrong kind, an option that is not known, or no `trust`.
 * @throws RangeError for an option of the right kind with a value that is not possible.
 * @throws WardgateError when the bundle is refused; its code is a {@link Refusal} and says why.
 *
 * @example
 *     const trust = JSON.parse(await readFile("release.pub.jwk", "utf8"));
 *     const pdp = await open(await readFile("album.bundle"), { trust });
 *     pdp.isAllowed({ principal: { id: "ada", roles: ["user"] }, action: "view", resource });
 */
export async function open(bundle: Bundle, options: OpenOptions): Promise<Pdp> {
  const settings = readOptions(options);
  return new OpenedPdp(await runtime(), bundle, settings);
}
