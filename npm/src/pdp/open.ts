// Opens bundles.

import { readLoad, type LoadOptions } from "../wasm/code.ts";
import { copyOf, membersOf, mustBeBytes } from "../base/describe.ts";
import { runtime, runtimeNow } from "../wasm/module.ts";
import { readOptions, type OpenNowOptions, type OpenOptions } from "./options.ts";
import { OpenedPdp } from "./pdp.ts";
import { readBundle } from "./source.ts";
import type { SpocpModule } from "./spocp-types.ts";
import type { Bundle, BundleSource, Pdp, SpocpPdp } from "./types.ts";
import { disregard, type CodeNow, type CodeSource } from "../base/web.ts";

/**
 * Opens a bundle, if those whom you trust have signed it. It may be bytes, or come from a URL, a response or a
 * stream; `fetch(url, { signal: AbortSignal.timeout(5000) })` is one that does not wait for ever.
 *
 * @throws TypeError for a bundle or an option of the wrong kind, or an option that is not known; and with the code
 * `no-trust`, where there is no `trust`.
 * @throws RangeError for an option of the right kind with a value that is not possible.
 * @throws WardgateError when the bundle is refused; its code is a {@link Refusal} and says why. When it does not
 * arrive, the code is `not-fetched`; when the code of the module does not, `not-loaded` or `wrong-code`.
 *
 * @example
 *     const trust = JSON.parse(await readFile("release.pub.jwk", "utf8"));
 *     const pdp = await open(new URL("album.bundle", import.meta.url), { trust });
 *     pdp.isAllowed({ principal: { id: "ada", roles: ["user"] }, action: "view", resource });
 */
export async function open(bundle: BundleSource, options: OpenOptions & WithSpocp): Promise<SpocpPdp>;
export async function open(bundle: BundleSource, options: OpenOptions): Promise<Pdp>;
export async function open(bundle: BundleSource, options: OpenOptions): Promise<Pdp> {
  disregard(bundle);
  disregard(membersOf(options)?.get("code"));
  const settings = readOptions(options);
  // Both at once: one of them is often on its way over a network.
  const arriving = readBundle(bundle, settings.maxBytes);
  const readingRules = settings.spocp?.ready();
  for (const promise of [arriving, readingRules]) disregard(promise);
  const started = await runtime(settings.code as CodeSource | undefined);
  return new OpenedPdp(started, await arriving, settings, await readingRules);
}

/**
 * Opens a bundle before it returns, where the code of the module is at hand: in Node, Deno, Bun and workers, and
 * elsewhere after `load` or `open`, or with the option `code`.
 *
 * @throws TypeError, RangeError and WardgateError as {@link open} does.
 */
export function openSync(bundle: Bundle, options: OpenNowOptions & WithSpocp): SpocpPdp;
export function openSync(bundle: Bundle, options: OpenNowOptions): Pdp;
export function openSync(bundle: Bundle, options: OpenNowOptions): Pdp {
  const settings = readOptions(options);
  const bytes = copyOf(mustBeBytes(bundle, "a bundle"));
  const started = runtimeNow(settings.code as CodeNow | undefined);
  return new OpenedPdp(started, bytes, settings, settings.spocp?.readyNow());
}

interface WithSpocp {
  readonly spocp: SpocpModule;
}

/**
 * Loads the module, so that `openSync`, `hash`, `hashMany` and `verifyBatch` work where they cannot load it
 * themselves. Once it is loaded, this does nothing.
 *
 * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
 */
export async function load(options: LoadOptions = {}): Promise<void> {
  await runtime(readLoad(options));
}
