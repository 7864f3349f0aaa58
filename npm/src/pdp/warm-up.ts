// Runs everything once, so that the first decision finds it compiled.
//
// Engines compile a function when it is called for the first time. For the first bundle and the first decision that
// is most of the work, and a worker may do it before there is a request.

import { WardgateError } from "../base/errors.ts";
import { openSync } from "./open.ts";
import type { OpenNowOptions } from "./options.ts";
import type { ActionRequest, Bundle } from "./types.ts";
import { BUNDLE } from "./warm-up-bundle.ts";
import type { CodeNow } from "../base/web.ts";

/** What to warm up. */
export interface WarmUpOptions {
  /** The code of the module, as `openSync` takes it. */
  readonly code?: CodeNow | undefined;
}

/**
 * Verifies, opens and asks a bundle that is part of the package, and forgets it: what the first real bundle needs is
 * compiled then. Call it at the top level of a worker. Afterwards nothing is open and no key is trusted.
 *
 * @throws WardgateError with the code `not-loaded` or `wrong-code`, where `openSync` does.
 */
export function warmUp(options: WarmUpOptions = {}): void {
  const bundle = Uint8Array.from(atob(BUNDLE), (character) => character.charCodeAt(0));
  // The clock of a worker that has no request yet stands still, and nothing here depends on it.
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

/** A key of zeros. What it would vouch for is not used. */
const ZERO_KEY = { alg: "ML-DSA-87", key: new Uint8Array(2592), kid: "nobody" } as const;

/** A question that reads everything that the policy of the bundle mentions: see `warm-up/policies.yaml`. */
const REQUEST: ActionRequest = {
  principal: { id: "ada", roles: ["user"], attr: { blocked: false } },
  action: "edit",
  resource: { kind: "warm", id: "one", attr: { owner: "ada", level: 4, state: "open", name: "a", tags: ["b"] } },
  auxData: { jwts: { claims: { claims: {} } } },
};
