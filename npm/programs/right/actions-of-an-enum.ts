import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

const Action = { View: "view", Edit: "edit" } as const;

export function decide(pdp: Pdp): boolean {
  const { actions } = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: [Action.View, Action.Edit] });
  return actions[Action.View].effect === "allow" && actions[Action.Edit].effect === "deny";
}
