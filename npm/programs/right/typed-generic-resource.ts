import type { ActionOf, KindOf, Pdp, Resource } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

function may<K extends KindOf<Policies>>(pdp: Pdp<Policies>, kind: K, action: ActionOf<Policies, K>, attr: Resource<Policies, K>["attr"]): boolean {
  return pdp.isAllowed({ principal, action, resource: { kind, id: "a1", attr } });
}

export function decide(pdp: Pdp<Policies>): boolean {
  return may(pdp, "album", "view", { owner: "ada" });
}
