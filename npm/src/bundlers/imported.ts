// What `import policies from "./policies"` gives: the entry `wardgate/policies`, which the text of
// such a module imports.
//
// During development the module is evaluated again after each change of a policy. The object of the
// first evaluation stays: it takes the new bundle, and so do the PDPs that it opened.

import { callListener } from "../base/report.ts";
import { open } from "../pdp/open.ts";
import type { OpenOptions } from "../pdp/options.ts";
import type { PolicyTypes, RegisteredTypes } from "../pdp/policy-types.ts";
import type { Trust } from "../pdp/terms.ts";
import type { Pdp } from "../pdp/types.ts";

/** Policies that a bundler has compiled; `P` is their types, which the option `types` of the plug-in writes. */
export interface ImportedPolicies<P extends PolicyTypes = RegisteredTypes> {
  /** The bundle: signed in production if the plug-in has a key, and unsigned otherwise. */
  readonly bundle: Uint8Array;
  /** The public key that the bundle is signed for, or `unsigned`. */
  readonly trust: Trust;
  /**
   * Opens the bundle. During development the PDP takes each new bundle after a policy is saved;
   * `onReload` of the PDP tells its listeners.
   *
   * @throws as `open` does.
   *
   * @example
   *     import policies from "./policies";
   *     export const pdp = await policies.open();
   */
  open(options?: Partial<OpenOptions>): Promise<Pdp<P>>;
}

/** What a bundler hands from one evaluation of a module to the next. */
export interface HotData {
  wardgate?: Imported;
}

/**
 * Returns the policies of a module, for its text. With the data of an earlier evaluation it replaces
 * the bundle of that.
 */
export function imported(base64: string, trust: Trust, hot?: HotData): ImportedPolicies {
  const bundle = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  if (hot === undefined) return new Imported(bundle, trust, false);
  hot.wardgate ??= new Imported(bundle, trust, true);
  hot.wardgate.replace(bundle);
  return hot.wardgate;
}

class Imported implements ImportedPolicies {
  bundle: Uint8Array;
  readonly trust: Trust;
  readonly #isHot: boolean;
  /** The PDPs that are opened, as long as the page holds them. */
  #opened: readonly WeakRef<Pdp>[] = [];

  constructor(bundle: Uint8Array, trust: Trust, isHot: boolean) {
    this.bundle = bundle;
    this.trust = trust;
    this.#isHot = isHot;
  }

  async open(options: Partial<OpenOptions> = {}): Promise<Pdp> {
    const { bundle } = this;
    const pdp = await open(bundle, { trust: this.trust, ...options });
    if (!this.#isHot) return pdp;
    this.#opened = [...this.#opened, new WeakRef(pdp)];
    // A policy was saved while the module was loading.
    if (this.bundle !== bundle) pdp.reload(this.bundle);
    return pdp;
  }

  /** Puts a bundle into use in all PDPs. One that refuses it, or is disposed of, does not stop the others. */
  replace(bundle: Uint8Array): void {
    if (this.bundle === bundle) return;
    this.bundle = bundle;
    this.#opened = this.#opened.filter((weak) => {
      const pdp = weak.deref();
      if (pdp === undefined || isDisposed(pdp)) return false;
      callListener(() => pdp.reload(bundle), undefined);
      return true;
    });
  }
}

function isDisposed(pdp: Pdp): boolean {
  try {
    pdp.onReload(() => {})();
    return false;
  } catch {
    return true;
  }
}
