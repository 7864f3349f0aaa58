// Opens bundles.

import type { LoadOptions } from "./load-options.ts";
import { readLoad } from "../wasm/code.ts";
import { presentBundle } from "./bundle-bytes.ts";
import { membersOf } from "../base/describe.ts";
import { runtime, runtimeNow } from "../wasm/module.ts";
import { readOptions, type OpenNowOptions, type OpenOptions, type Settings } from "./options.ts";
import { OpenedPdp } from "./pdp.ts";
import { RecordedPdp } from "./recorded-pdp.ts";
import type { PolicyTypes, RegisteredTypes } from "./policy-types.ts";
import { readBundle, type BundleArrival } from "./source.ts";
import type { SpocpModule } from "./spocp-types.ts";
import type { Bundle, Pdp, SpocpPdp } from "./types.ts";
import { ignoreRejection, type CodeNow, type CodeSource } from "../base/web.ts";

/**
 * Opens a bundle that trusted keys have signed. The bundle is bytes or a promise of bytes, or comes
 * from a URL, a response or a stream. A path is no source: write `await readFile(path)` in Node. Use `fetch(url, { signal: AbortSignal.timeout(5000) })` for a response with
 * a time limit.
 *
 * @throws TypeError if the bundle or an option has the wrong kind, or an option is unknown; with
 * the code `no-trust` if `trust` is missing.
 * @throws RangeError if the value of an option is out of range.
 * @throws WardgateError if the bundle is refused, with a {@link Refusal} as its code. The code is
 * `not-fetched` if the bundle does not arrive, and `not-loaded` or `wrong-code` if the code of the
 * module does not.
 *
 * @example
 *     const trust = JSON.parse(await readFile("release.pub.jwk", "utf8"));
 *     const pdp = await open(new URL("album.bundle", import.meta.url), { trust });
 *     pdp.isAllowed({ principal: { id: "ada", roles: ["user"] }, action: "view", resource });
 */
export async function open<P extends PolicyTypes = RegisteredTypes>(bundle: BundleArrival, options: OpenOptions & WithSpocp): Promise<SpocpPdp<P>>;
export async function open<P extends PolicyTypes = RegisteredTypes>(bundle: BundleArrival, options: OpenOptions): Promise<Pdp<P>>;
export async function open(bundle: BundleArrival, options: OpenOptions): Promise<Pdp> {
  ignoreRejection(bundle);
  ignoreRejection(membersOf(options)?.get("code"));
  const settings = readOptions(options);
  // In parallel: one of them often comes over a network.
  const arriving = readBundle(bundle, settings.maxBytes);
  const readingRules = settings.spocp?.ready();
  for (const promise of [arriving, readingRules]) ignoreRejection(promise);
  const started = await runtime(settings.code as CodeSource | undefined);
  return new (classFor(settings))(started, await arriving, settings, await readingRules);
}

/**
 * Opens a bundle synchronously. It needs the code of the module at hand: in Node, Deno, Bun and
 * workers, and elsewhere after `load` or `open`, or with the option `code`.
 *
 * @throws TypeError, RangeError and WardgateError as {@link open} does.
 *
 * @example
 *     const pdp = openSync(readFileSync("album.bundle"), { trust });
 */
export function openSync<P extends PolicyTypes = RegisteredTypes>(bundle: Bundle, options: OpenNowOptions & WithSpocp): SpocpPdp<P>;
export function openSync<P extends PolicyTypes = RegisteredTypes>(bundle: Bundle, options: OpenNowOptions): Pdp<P>;
export function openSync(bundle: Bundle, options: OpenNowOptions): Pdp {
  const settings = readOptions(options);
  const bytes = presentBundle(bundle);
  const started = runtimeNow(settings.code as CodeNow | undefined);
  return new (classFor(settings))(started, bytes, settings, settings.spocp?.readyNow());
}

function classFor({ log, onDecision }: Settings): typeof OpenedPdp {
  return log === undefined && onDecision === undefined ? OpenedPdp : RecordedPdp;
}

interface WithSpocp {
  readonly spocp: SpocpModule;
}

/**
 * Loads the module, for `openSync`, `hash`, `hashMany` and `verifyBatch` on runtimes where they
 * cannot load it themselves. Further calls do nothing.
 *
 * @throws WardgateError with the code `not-loaded`, `not-fetched` or `wrong-code`.
 *
 * @example
 *     await load();
 *     const pdp = openSync(bundle, { trust });
 */
export async function load(options: LoadOptions = {}): Promise<void> {
  await runtime(readLoad(options));
}
