import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const part: string = "cover";
  return !pdp.isAllowed({ principal, action: `download:${part}`, resource: { kind: "album", id: "a1" } });
}
