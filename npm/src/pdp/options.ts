// Reads the options of `open` and `reload`. An unknown option is an error: an option that is
// accepted and ignored would be a silent downgrade.

import { FORMAT } from "../fast/accessors.ts";
import { describe } from "../base/describe.ts";
import { readSecret, type SecretJwk } from "./keys.ts";
import { knownMembers, readFlag, readOneOf, readWhole } from "../base/option.ts";
import { isDecisionLog, type DecisionListener, type DecisionLog } from "./recording.ts";
import type { SpocpModule } from "./spocp-types.ts";
import { isUnsigned, withoutTrust, writeTerms, type Trust } from "./terms.ts";
import type { Accessors } from "./types.ts";
import type { CodeNow, CodeSource } from "../base/web.ts";

/** The options of `open`. */
export interface OpenOptions extends OpenNowOptions {
  /**
   * The code of the module, for runtimes and bundlers that cannot find it: `wardgate/wasm`,
   * compiled, as bytes or as a response. All PDPs share the first code that is loaded; later code
   * is ignored.
   *
   * @example
   *     await open(bundle, { trust, code: fetch("/assets/wardgate_bg.wasm") });
   */
  readonly code?: CodeSource | undefined;
}

/** The options of `openSync`. */
export interface OpenNowOptions {
  /**
   * The keys whose bundles may be opened. There is no default: trust is always an explicit
   * decision.
   *
   * @example
   *     const trust = JSON.parse(await readFile("release.pub.jwk", "utf8"));
   *     await open(bundle, { trust: { keys: [release, audit], atLeast: 2 } });
   */
  readonly trust: Trust;
  /**
   * The lowest accepted revision. Default: 0. Store the highest `pdp.header.revision`; then an
   * attacker cannot replay an older bundle, however well signed.
   *
   * @example
   *     await open(bundle, { trust, minRevision: 7 });
   */
  readonly minRevision?: number | undefined;
  /**
   * The time for which the dates of the bundle are checked, in milliseconds since 1970. Default:
   * the time of `clock`. It applies to this opening; a `reload` reads the clock again.
   *
   * @example
   *     await open(bundle, { trust, now: Date.UTC(2024, 4, 6) });
   */
  readonly now?: number | Date | undefined;
  /**
   * The name that the bundle must have, so that a bundle for one purpose cannot serve another.
   * Default: any name.
   *
   * @example
   *     await open(bundle, { trust, name: "album" });
   */
  readonly name?: string | undefined;
  /**
   * The key of sealed bundles. With this option, a bundle that is not sealed is refused.
   *
   * @example
   *     const unsealKey = JSON.parse(await readFile("sealing.jwk", "utf8"));
   *     await open(bundle, { trust, unsealKey });
   */
  readonly unsealKey?: Uint8Array | SecretJwk | undefined;
  /**
   * The largest accepted size of a bundle in bytes. Default: 256 MiB.
   *
   * @example
   *     await open(bundle, { trust, maxBytes: 1_000_000 });
   */
  readonly maxBytes?: number | undefined;
  /**
   * The behaviour of the PDP after its bundle has expired. Default: `"deny"`, which denies every
   * action with the reason `expired`. With `"decide"`, an attacker who withholds newer bundles
   * keeps this one in use.
   *
   * @example
   *     await open(bundle, { trust, afterExpiry: "decide" });
   */
  readonly afterExpiry?: "deny" | "decide" | undefined;
  /**
   * Returns the time in milliseconds since 1970. Default: `Date.now`.
   *
   * @example
   *     await open(bundle, { trust, clock: () => Date.UTC(2024, 4, 6, 12) });
   */
  readonly clock?: (() => number) | undefined;
  /**
   * The accessor module that `wardgate compile --emit` wrote with this bundle. It makes `isAllowed`
   * faster and changes no decision. After a `reload` it stays in use for the names that it has.
   *
   * @example
   *     import * as accessors from "./album.accessors.js";
   *     await open(bundle, { trust, accessors });
   */
  readonly accessors?: Accessors | undefined;
  /**
   * The export of `wardgate/spocp`. With it the PDP answers queries by the rules of SPOCP in the
   * bundle, as `pdp.spocp`, and a bundle with malformed rules is refused; without it the rules are
   * ignored.
   *
   * @example
   *     import { spocp } from "wardgate/spocp";
   *     const pdp = await open(bundle, { trust, spocp });
   */
  readonly spocp?: SpocpModule | undefined;
  /**
   * True for a PDP whose decisions a limiter of `wardgate/ratelimit` makes: it may open bundles with
   * rate limits, and `limiter(pdp).check` decides and charges them. The methods of the PDP that decide
   * throw then, with the code `limits`, since they charge nothing. Without it, a bundle with limits is
   * refused.
   *
   * @example
   *     const guard = limiter(await open(bundle, { trust, limits: true }), { store });
   */
  readonly limits?: boolean | undefined;
  /**
   * A decision log of `wardgate/log`. All methods that decide are recorded in it, and with `limits` the decisions of the
   * limiter; `explain` is not.
   *
   * @example
   *     const log = decisionLog({ sink: (frame) => queue.send(frame) });
   *     const pdp = await open(bundle, { trust, log });
   */
  readonly log?: DecisionLog | undefined;
  /**
   * Gets ids, names and effect of each decision, after it was made; `explain` is none. An exception of it is reported like
   * one in an event listener, and changes no decision. `telemetry` of `wardgate/opentelemetry` is one.
   *
   * @example
   *     await open(bundle, { trust, onDecision: (decided) => console.log(decided) });
   */
  readonly onDecision?: DecisionListener | undefined;
  /**
   * The code of the module: `wardgate/wasm`, compiled, or as bytes on runtimes that may compile at
   * any time.
   *
   * @example
   *     openSync(bundle, { trust, code: readFileSync("wardgate_bg.wasm") });
   */
  readonly code?: CodeNow | undefined;
}

/** The options, checked and complete. */
export interface Settings {
  /** The trusted keys and further conditions, as the module reads them. */
  readonly terms: Uint8Array;
  readonly isUnsigned: boolean;
  readonly decidesAfterExpiry: boolean;
  /** True if a limiter makes the decisions. */
  readonly enforcesLimits: boolean;
  readonly minRevision: number;
  readonly now: number | undefined;
  readonly unsealKey: Uint8Array | undefined;
  readonly maxBytes: number;
  readonly clock: () => number;
  readonly accessors: Accessors | undefined;
  readonly spocp?: SpocpModule | undefined;
  readonly log?: DecisionLog | undefined;
  readonly onDecision?: DecisionListener | undefined;
  readonly code: unknown;
}

/** Reads options that come from JavaScript without type checks. */
export function readOptions(options: unknown): Settings {
  if (options === undefined) throw withoutTrust();
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object with \`trust\`, found ${describe(options)}`);
  }
  const members = knownMembers(options, OPEN);
  const maxBytes = readWhole(members.get("maxBytes"), "maxBytes", MAX_BUNDLE_BYTES) ?? MAX_BUNDLE_BYTES;
  const decidesAfterExpiry = readOneOf(members.get("afterExpiry"), "afterExpiry", AFTER_EXPIRY) === "decide";
  const enforcesLimits = readFlag(members.get("limits"), "limits") ?? false;
  const [trust, secret] = [members.get("trust"), members.get("unsealKey")];
  return {
    terms: writeTerms({ trust, name: members.get("name"), maxBytes, decidesAfterExpiry, enforcesLimits }),
    isUnsigned: isUnsigned(trust),
    decidesAfterExpiry,
    enforcesLimits,
    minRevision: readRevision(members),
    now: readNow(members.get("now")),
    unsealKey: secret === undefined ? undefined : readSecret(secret),
    maxBytes,
    clock: readClock(members.get("clock")),
    accessors: readAccessors(members.get("accessors")),
    spocp: readSpocp(members.get("spocp")),
    ...readRecording(members),
    code: members.get("code"),
  };
}

/** Reads the options of a reload. */
export function readReload(options: unknown): Pick<Settings, "minRevision" | "now"> {
  if (options === undefined) return { minRevision: 0, now: undefined };
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object, found ${describe(options)}`);
  }
  const members = knownMembers(options, RELOAD);
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
  throw new TypeError(`option \`spocp\` must be the export \`spocp\` of \`wardgate/spocp\`, found ${describe(spocp)}`);
}

function readRecording(members: ReadonlyMap<string, unknown>): Pick<Settings, "log" | "onDecision"> {
  const [log, onDecision] = [members.get("log"), members.get("onDecision")];
  if (log !== undefined && !isDecisionLog(log)) {
    throw new TypeError(`option \`log\` must be a log of \`decisionLog\` of \`wardgate/log\`, found ${describe(log)}`);
  }
  if (onDecision !== undefined && typeof onDecision !== "function") {
    throw new TypeError(`option \`onDecision\` must be a function, found ${describe(onDecision)}`);
  }
  return { log, onDecision: onDecision as DecisionListener | undefined };
}

const MAX_BUNDLE_BYTES = 2 ** 28;
const AFTER_EXPIRY: readonly string[] = ["deny", "decide"];
const RELOAD: readonly string[] = ["minRevision", "now"];
const OPEN: readonly string[] = ["trust", ...RELOAD, "name", "unsealKey", "maxBytes", "afterExpiry", "clock", "accessors", "spocp", "limits", "log", "onDecision", "code"];
