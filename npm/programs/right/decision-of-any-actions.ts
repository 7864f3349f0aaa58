import type { Decision, Pdp } from "wardgate";

function allowed(decision: Decision): string[] {
  return Object.entries(decision.actions).filter(([, { effect }]) => effect === "allow").map(([action]) => action);
}

function mayView({ actions }: Pick<Decision<"view">, "actions">): boolean {
  return actions.view.effect === "allow";
}

export function decide(pdp: Pdp): boolean {
  const decision = pdp.check({ principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id: "a1" }, actions: ["view", "edit"] });
  return allowed(decision).join() === "view" && mayView(decision);
}
