import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const token: { readonly sub: string; readonly roles: readonly string[] } = { sub: "ada", roles: ["user", "staff-of-the-month"] };
  return pdp.isAllowed({ principal: { id: token.sub, roles: token.roles }, action: "view", resource: { kind: "album", id: "a1" } });
}
