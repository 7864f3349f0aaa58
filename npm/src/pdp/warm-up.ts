// Runs the code once, so that the first decision finds it compiled.
//
// Engines compile a function on its first call. That is most of the work for the first bundle and
// the first decision, and a worker may do it before its first request.

import { WardgateError } from "../base/errors.ts";
import { bytesOfBinary } from "../base/text.ts";
import { openSync } from "./open.ts";
import type { OpenNowOptions } from "./options.ts";
import type { ActionRequest } from "./request-types.ts";
import type { Bundle } from "./types.ts";
import { BUNDLE } from "./warm-up-bundle.ts";
import type { CodeNow } from "../base/web.ts";

/** The options of `warmUp`. */
export interface WarmUpOptions {
  /** The code of the module, as for `openSync`. */
  readonly code?: CodeNow | undefined;
}

/**
 * Verifies, opens and uses a bundle that is part of the package, and disposes of it: then the code
 * for the first real bundle is compiled. Call it at the top level of a worker. Afterwards no bundle
 * is open and no key is trusted.
 *
 * @throws WardgateError with the code `not-loaded` or `wrong-code`, as `openSync` does.
 *
 * @example
 *     import code from "wardgate/wasm";
 *     warmUp({ code });
 */
export function warmUp(options: WarmUpOptions = {}): void {
  const bundle = bytesOfBinary(atob(BUNDLE));
  // Before its first request the clock of a worker stands still; nothing here depends on it.
  const opening = { ...options, clock: () => 0 };
  refuse(bundle, { ...opening, trust: ZERO_KEY });
  const pdp = openSync(bundle, { ...opening, trust: "unsigned" });
  try {
    const { action, ...rest } = REQUEST;
    pdp.isAllowed(REQUEST);
    pdp.check({ ...rest, actions: [action, "view"] });
  } finally {
    pdp.dispose();
  }
}

/** Verifies the signature, which is wrong. */
function refuse(bundle: Bundle, options: OpenNowOptions): void {
  try {
    openSync(bundle, options).dispose();
  } catch (thrown) {
    if (!(thrown instanceof WardgateError) || thrown.code !== "wrong-signature") throw thrown;
  }
}

/** A key of zeros, in whose name the bundle is signed. The signature is wrong. */
const ZERO_KEY = { alg: "ML-DSA-87", key: new Uint8Array(2592), kid: "nobody" } as const;

/**
 * A request that reads every attribute in the policy of the bundle: see `warm-up/policies.yaml`.
 */
const REQUEST: ActionRequest = {
  principal: { id: "ada", roles: ["user"], attr: { blocked: false } },
  action: "edit",
  resource: { kind: "warm", id: "one", attr: { owner: "ada", level: 4, state: "open", name: "a", tags: ["b"] } },
  auxData: { jwts: { claims: { claims: {} } } },
};
