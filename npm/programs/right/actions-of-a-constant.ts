import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

const ACTIONS = ["view", "edit"] as const;
type Action = (typeof ACTIONS)[number];

export function decide(pdp: Pdp): boolean {
  const decision = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ACTIONS });
  const allowed: Record<Action, boolean> = { view: decision.actions.view.effect === "allow", edit: decision.actions.edit.effect === "allow" };
  return allowed.view && !allowed.edit;
}
