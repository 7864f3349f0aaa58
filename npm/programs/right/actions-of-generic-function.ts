import type { Decision, Pdp } from "wardgate";

function checked<A extends string>(pdp: Pdp, actions: readonly A[]): Decision<A> {
  return pdp.check({ principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id: "a1" }, actions });
}

export function decide(pdp: Pdp): boolean {
  return checked(pdp, ["view"]).actions.view.effect === "allow";
}
