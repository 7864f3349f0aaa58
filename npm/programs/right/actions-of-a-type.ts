import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

type Action = "view" | "edit";

export function decide(pdp: Pdp): boolean {
  const actions: Action[] = ["view", "edit"];
  const decision = pdp.check<Action>({ principal, resource: { kind: "album", id: "a1" }, actions });
  return actions.filter((action) => decision.actions[action].effect === "allow").join() === "view";
}
