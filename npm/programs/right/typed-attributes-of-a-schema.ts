import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const attr = { author: "ada", state: "draft", pages: null, paper: { width: 21 } } as const;
  return !pdp.isAllowed({ principal, action: "read", resource: { kind: "document", id: "d1", policyVersion: "v2", attr } });
}
