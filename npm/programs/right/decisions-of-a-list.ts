import type { Decision, Pdp } from "wardgate";

export function decide(pdp: Pdp): boolean {
  const requests = ["a1", "a2"].map((id) => ({ principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id }, actions: ["view"] }));
  const decisions: Decision[] = pdp.checkMany(requests);
  return decisions.every(({ actions }) => actions["view"]?.effect === "allow");
}
