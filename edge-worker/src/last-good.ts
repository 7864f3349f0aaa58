// The last good bundle, for instances that start while the source has none. It is kept in the cache of the data
// centre, and verified like any other when it is taken from there.

import { MAX_BUNDLE_BYTES } from "./config.ts";
import { readBounded } from "./text.ts";

/** Keeps one bundle. What it cannot keep or find is no reason to fail. */
export interface LastGood {
  read(): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array): Promise<void>;
}

/** The cache, under the name of a source. On a `workers.dev` address it keeps nothing. */
export function lastGoodOf(source: string): LastGood {
  const key = `https://last-good.wardgate.invalid/${encodeURIComponent(source)}`;
  return {
    async read() {
      const found = await caches.default.match(key);
      return found?.body ? readBounded(found.body, MAX_BUNDLE_BYTES) : undefined;
    },
    async write(bytes) {
      const headers = { "Cache-Control": `max-age=${YEAR}`, "Content-Type": "application/octet-stream" };
      await caches.default.put(key, new Response(bytes.slice(), { headers }));
    },
  };
}

const YEAR = 31_536_000;
