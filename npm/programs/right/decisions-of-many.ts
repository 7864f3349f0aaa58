import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const resource = { kind: "album", id: "a1" };
  const [first, second] = pdp.checkMany([{ principal, resource, actions: ["view"] }, { principal, resource, actions: ["edit"] }]);
  return first.actions.view.effect === "allow" && second.actions.edit.effect === "deny";
}
