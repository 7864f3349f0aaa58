// Reads the options of `open` and `reload`. A key that is not known is an error: an option accepted and
// ignored would be a silent downgrade.

import { FORMAT } from "../fast/accessors.ts";
import { describe } from "../base/describe.ts";
import { readSecret, type SecretJwk } from "./keys.ts";
import { known, readOneOf, readWhole } from "../base/option.ts";
import type { SpocpModule } from "./spocp-types.ts";
import { isUnsigned, withoutTrust, writeTerms, type Trust } from "./terms.ts";
import type { Accessors } from "./types.ts";
import type { CodeNow, CodeSource } from "../base/web.ts";

/** How to open a bundle. */
export interface OpenOptions extends OpenNowOptions {
  /**
   * The code of the module, for runtimes or bundlers that do not find it themselves: `wardgate/wasm`, compiled,
   * as bytes or as a response. All PDPs share the code that came first; later ones are not looked at.
   */
  readonly code?: CodeSource | undefined;
}

/** How to open a bundle without waiting. */
export interface OpenNowOptions {
  /** Which bundles may be opened. There is no default: trust is always a decision. */
  readonly trust: Trust;
  /**
   * The lowest revision that is accepted. Keep the highest that you have seen, `pdp.header.revision`, and
   * nobody can hand you an older bundle, however well signed.
   */
  readonly minRevision?: number | undefined;
  /**
   * The time for which the dates of the bundle are looked at, in milliseconds since 1970; what `clock`
   * says unless given. It counts for this opening; a `reload` looks at the clock again.
   */
  readonly now?: number | Date | undefined;
  /** The name that the bundle must have, so that what is signed for one purpose does not serve another. */
  readonly name?: string | undefined;
  /** The key of sealed bundles. Where it is given, a bundle that is not sealed is refused. */
  readonly unsealKey?: Uint8Array | SecretJwk | undefined;
  /** The most bytes that are looked at: 256 MiB unless given. */
  readonly maxBytes?: number | undefined;
  /**
   * What the PDP does from the moment on which its bundle expires: `"deny"` unless given, and then every action is
   * denied, for the reason `expired`. With `"decide"` whoever keeps newer bundles away keeps this one in use.
   */
  readonly afterExpiry?: "deny" | "decide" | undefined;
  /** Returns the time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  /**
   * The module that `wardgate compile --emit` wrote with this bundle. It makes `isAllowed` faster and
   * changes no answer. After a `reload` it goes on, and helps with the names that it knows.
   */
  readonly accessors?: Accessors | undefined;
  /**
   * The module that `wardgate/spocp` exports. With it the PDP answers queries by the rules of SPOCP in the bundle, as
   * `pdp.spocp`, and a bundle whose rules are malformed is refused; without it they are not looked at.
   */
  readonly spocp?: SpocpModule | undefined;
  /** The code of the module: `wardgate/wasm`, compiled or, where a program may compile at any time, as bytes. */
  readonly code?: CodeNow | undefined;
}

/** The options, complete. */
export interface Settings {
  /** Whom and what is accepted, as the module reads it. */
  readonly terms: Uint8Array;
  readonly isUnsigned: boolean;
  readonly decidesAfterExpiry: boolean;
  readonly minRevision: number;
  readonly now: number | undefined;
  readonly unsealKey: Uint8Array | undefined;
  readonly maxBytes: number;
  readonly clock: () => number;
  readonly accessors: Accessors | undefined;
  readonly spocp?: SpocpModule | undefined;
  readonly code: unknown;
}

/** Reads options that may come from JavaScript, where nobody has checked their types. */
export function readOptions(options: unknown): Settings {
  if (options === undefined) throw withoutTrust();
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object with \`trust\`, found ${describe(options)}`);
  }
  const members = known(options, OPEN);
  const maxBytes = readWhole(members.get("maxBytes"), "maxBytes", MAX_BUNDLE_BYTES) ?? MAX_BUNDLE_BYTES;
  const decidesAfterExpiry = readOneOf(members.get("afterExpiry"), "afterExpiry", AFTER_EXPIRY) === "decide";
  const [trust, secret] = [members.get("trust"), members.get("unsealKey")];
  return {
    terms: writeTerms({ trust, name: members.get("name"), maxBytes, decidesAfterExpiry }),
    isUnsigned: isUnsigned(trust),
    decidesAfterExpiry,
    minRevision: readRevision(members),
    now: readNow(members.get("now")),
    unsealKey: secret === undefined ? undefined : readSecret(secret),
    maxBytes,
    clock: readClock(members.get("clock")),
    accessors: readAccessors(members.get("accessors")),
    spocp: readSpocp(members.get("spocp")),
    code: members.get("code"),
  };
}

/** Reads the options of a reload. */
export function readReload(options: unknown): Pick<Settings, "minRevision" | "now"> {
  if (options === undefined) return { minRevision: 0, now: undefined };
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object, found ${describe(options)}`);
  }
  const members = known(options, RELOAD);
  return { minRevision: readRevision(members), now: readNow(members.get("now")) };
}

function readRevision(members: ReadonlyMap<string, unknown>): number {
  return readWhole(members.get("minRevision"), "minRevision", Number.MAX_SAFE_INTEGER) ?? 0;
}

function readNow(now: unknown): number | undefined {
  if (now === undefined) return undefined;
  const time = now instanceof Date ? now.getTime() : now;
  if (typeof time !== "number") throw new TypeError(`option \`now\` must be a number or a Date, found ${describe(now)}`);
  if (!Number.isFinite(time)) throw new RangeError("option `now` must be a time, found none");
  return time;
}

function readClock(clock: unknown): () => number {
  if (clock === undefined) return () => Date.now();
  if (typeof clock !== "function") {
    throw new TypeError(`option \`clock\` must be a function, found ${describe(clock)}`);
  }
  return () => {
    const now: unknown = clock();
    if (typeof now !== "number") {
      throw new TypeError(`the clock must return a number, found ${describe(now)}`);
    }
    return now;
  };
}

function readAccessors(accessors: unknown): Accessors | undefined {
  if (accessors === undefined) return undefined;
  if (typeof accessors !== "object" || accessors === null) {
    throw new TypeError(`option \`accessors\` must be a module, found ${describe(accessors)}`);
  }
  const { format, bundle, names, decideRequest } = accessors as { readonly [name: string]: unknown };
  if (typeof bundle !== "string" || !Array.isArray(names) || typeof decideRequest !== "function") {
    throw new TypeError("option `accessors` must be a module that `wardgate compile --emit` wrote");
  }
  if (format !== FORMAT) {
    throw new RangeError(`option \`accessors\` must have format ${FORMAT}, found ${String(format)}: emit it again`);
  }
  return accessors as Accessors;
}

function readSpocp(spocp: unknown): SpocpModule | undefined {
  if (spocp === undefined) return undefined;
  const { ready, readyNow } = Object(spocp) as { readonly [name: string]: unknown };
  if (typeof ready === "function" && typeof readyNow === "function") return spocp as SpocpModule;
  throw new TypeError(`option \`spocp\` must be what \`wardgate/spocp\` exports by this name, found ${describe(spocp)}`);
}

const MAX_BUNDLE_BYTES = 2 ** 28;
const AFTER_EXPIRY: readonly string[] = ["deny", "decide"];
const RELOAD: readonly string[] = ["minRevision", "now"];
const OPEN: readonly string[] = ["trust", ...RELOAD, "name", "unsealKey", "maxBytes", "afterExpiry", "clock", "accessors", "spocp", "code"];
