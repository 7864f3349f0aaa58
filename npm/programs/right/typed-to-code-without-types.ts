import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const anyPdp: Pdp = pdp;
  return anyPdp.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1" } });
}
