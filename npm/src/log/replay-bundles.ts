// The bundles that decide again.
//
// A bundle with dates is opened at the time at which the log says that its policies came into force.

import { describe, mustBeBytes } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { knownMembers } from "../base/option.ts";
import { open } from "../pdp/open.ts";
import type { OpenOptions } from "../pdp/options.ts";
import type { Pdp } from "../pdp/types.ts";
import type { PoliciesRecord } from "./log-types.ts";
import type { ReplayOptions } from "./replay-types.ts";

export class ReplayBundles {
  /** The time at which is decided, in milliseconds since 1970. */
  time = 0;
  /** The policies that decide instead of those that were in force. */
  candidate: Pdp | undefined;
  readonly #options: Omit<OpenOptions, "clock">;
  /** The bundles that were valid at no time that the log has named so far. */
  #closed: readonly Uint8Array[];
  readonly #opened = new Map<string, Pdp>();
  readonly #inForce = new Map<number, Pdp | undefined>();

  /** Reads the options, and opens the bundle that decides instead. */
  static async from(options: unknown): Promise<ReplayBundles> {
    if (typeof options !== "object" || options === null) throw new TypeError(`options must be an object, found ${describe(options)}`);
    const members = knownMembers(options, NAMES);
    const given = members.get("bundles");
    if (!Array.isArray(given)) throw new TypeError(`option \`bundles\` must be a list, found ${describe(given)}`);
    const { trust, unsealKey, with: other, withTrust, code } = options as ReplayOptions;
    const bundles = new ReplayBundles({ trust, unsealKey, code }, given.map((bundle) => new Uint8Array(mustBeBytes(bundle, "a bundle"))));
    if (other === undefined && withTrust !== undefined) throw new TypeError("option `withTrust` is for the option `with`");
    if (other === undefined) return bundles;
    const ofOther = withTrust === undefined ? { trust, unsealKey, code } : { trust: withTrust, code };
    bundles.candidate = await bundles.#open(mustBeBytes(other, "a bundle"), ofOther, Date.now());
    return bundles;
  }

  private constructor(options: Omit<OpenOptions, "clock">, bundles: readonly Uint8Array[]) {
    this.#options = options;
    this.#closed = bundles;
  }

  /** Puts policies into force, for the decisions that follow. */
  async inForce({ number, root, time }: PoliciesRecord): Promise<void> {
    const content = hexOf(root);
    if (!this.#opened.has(content)) await this.#openAll(time);
    this.#inForce.set(number, this.#opened.get(content));
  }

  /** Returns the policies of this number, if they were given. */
  of(number: number): Pdp | undefined {
    return this.#inForce.get(number);
  }

  /** Disposes of all. */
  dispose(): void {
    for (const pdp of [this.candidate, ...this.#opened.values()]) pdp?.dispose();
  }

  async #openAll(time: number): Promise<void> {
    const closed: Uint8Array[] = [];
    for (const bundle of this.#closed) {
      const pdp = await this.#open(bundle, this.#options, time).catch(notAtThisTime);
      if (pdp === undefined) closed.push(bundle);
      else this.#opened.set(pdp.header.content, pdp);
    }
    this.#closed = closed;
  }

  async #open(bundle: Uint8Array, options: Omit<OpenOptions, "clock">, now: number): Promise<Pdp> {
    const given = { ...options, now, clock: () => this.time };
    // Rate limits charge nothing when a decision is made again.
    return open(bundle, given).catch((thrown: unknown) => {
      if (thrown instanceof WardgateError && thrown.code === "malformed") return open(bundle, { ...given, limits: true });
      throw thrown;
    });
  }
}

/** Returns nothing for a bundle that is not valid at a time, and throws all else. */
function notAtThisTime(thrown: unknown): undefined {
  if (thrown instanceof WardgateError && (thrown.code === "expired" || thrown.code === "not-yet-valid")) return undefined;
  throw thrown;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const NAMES: readonly (keyof ReplayOptions)[] = ["bundles", "trust", "unsealKey", "with", "withTrust", "code"];
