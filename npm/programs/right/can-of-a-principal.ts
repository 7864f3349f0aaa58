import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const { id, roles } = principal;
  const ability = pdp.for({ id, roles });
  return ability.can("view", { kind: "album", id: "a1" }) && !ability.can("edit", { kind: "album", id: "a1" });
}
