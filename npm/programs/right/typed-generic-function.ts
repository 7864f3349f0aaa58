import type { ActionOf, KindOf, Pdp, Resource } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

function may<K extends KindOf<Policies>>(pdp: Pdp<Policies>, action: ActionOf<Policies, K>, resource: Resource<Policies, K>): boolean {
  return pdp.isAllowed({ principal, action, resource });
}

export function decide(pdp: Pdp<Policies>): boolean {
  return may(pdp, "view", { kind: "album", id: "a1" });
}
