import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const log = "log_http" as const;
  return !pdp.isAllowed({ principal, action: "rotate", resource: { kind: log, id: "l1" } });
}
