import { openSync } from "wardgate";
import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function openPolicies(bundle: Uint8Array): Pdp<Policies> {
  return openSync<Policies>(bundle, { trust: "unsigned" });
}

export function decide(pdp: Pdp<Policies>): boolean {
  return pdp.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1" } });
}
