import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const { actions } = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["view", "edit"] });
  return actions.view.effect === "allow" && actions.edit.effect === "deny";
}
