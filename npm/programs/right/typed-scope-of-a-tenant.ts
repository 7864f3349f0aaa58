import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const tenant: string = "acme";
  return !pdp.isAllowed({ principal, action: "archive", resource: { kind: "document", id: "d1", scope: tenant } });
}
