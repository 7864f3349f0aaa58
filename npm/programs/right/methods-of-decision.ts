import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const decision = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["view", "edit"] });
  const allowed: ("view" | "edit")[] = decision.allowedActions();
  return decision.isAllowed("view") && !decision.allAllowed() && allowed.join() === "view";
}
