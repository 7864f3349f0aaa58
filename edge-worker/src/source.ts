// The sources of bundles: KV, R2 or a static asset.

import { ConfigError, MAX_BUNDLE_BYTES } from "./config.ts";
import type { Env } from "./env.ts";
import { readBounded, TooLarge } from "./text.ts";

/** The result of a poll. */
export type SourceResult =
  | { readonly kind: "bundle"; readonly bytes: Uint8Array; readonly etag: string | undefined }
  /** The bundle still has the given ETag. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "missing" };

/** Reads the bundle, unless it still has this ETag. */
export type Source = (etag: string | undefined) => Promise<SourceResult>;

/** Returns the source that the variable `BUNDLE` names. */
export function readSource(env: Env): Source {
  const [, kind, name] = /^(kv|r2|asset):(.+)$/.exec(env.BUNDLE ?? "") ?? [];
  if (kind === undefined || name === undefined) {
    throw new ConfigError("set BUNDLE to `kv:KEY`, `r2:KEY` or `asset:/PATH`");
  }
  switch (kind) {
    case "kv":
      return fromKv(bound("POLICIES_KV", env.POLICIES_KV), name);
    case "r2":
      return fromR2(bound("POLICIES_R2", env.POLICIES_R2), name);
    default:
      return fromAssets(bound("ASSETS", env.ASSETS), name);
  }
}

/**
 * Returns the source for KV, which has no ETags: the whole bundle is read each time, from a cache
 * nearby. It is read in one piece, because KV itself bounds values, and each chunk of a stream
 * would wait for an event loop turn of its own.
 */
function fromKv(kv: KVNamespace, key: string): Source {
  return async () => {
    const content = await kv.get(key, "arrayBuffer");
    if (content === null) return { kind: "missing" };
    if (content.byteLength > MAX_BUNDLE_BYTES) throw new TooLarge(`more than ${MAX_BUNDLE_BYTES} bytes`);
    return { kind: "bundle", bytes: new Uint8Array(content), etag: undefined };
  };
}

function fromR2(bucket: R2Bucket, key: string): Source {
  return async (etag) => {
    const object = await bucket.get(key, etag === undefined ? {} : { onlyIf: { etagDoesNotMatch: etag } });
    if (object === null) return { kind: "missing" };
    return "body" in object ? bundle(object.body, object.etag) : { kind: "unchanged" };
  };
}

function fromAssets(assets: Fetcher, path: string): Source {
  // Only the path counts; the binding serves no other host.
  const url = new URL(path, "https://assets.invalid");
  return async (etag) => {
    const response = await assets.fetch(url, etag === undefined ? {} : { headers: { "If-None-Match": etag } });
    if (response.status === 304) return { kind: "unchanged" };
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      return { kind: "missing" };
    }
    return bundle(response.body, response.headers.get("ETag") ?? undefined);
  };
}

async function bundle(stream: ReadableStream<Uint8Array>, etag: string | undefined): Promise<SourceResult> {
  return { kind: "bundle", bytes: await readBounded(stream, MAX_BUNDLE_BYTES), etag };
}

function bound<T>(name: string, binding: T | undefined): T {
  if (binding === undefined) throw new ConfigError(`the binding ${name} is missing`);
  return binding;
}
