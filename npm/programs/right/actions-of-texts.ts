import type { CheckRequest, Decision, Pdp } from "wardgate";

export function decide(pdp: Pdp): boolean {
  const names: string[] = ["view", "edit"];
  const request: CheckRequest = { principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id: "a1" }, actions: names };
  const decision: Decision = pdp.check(request);
  return decision.actions["view"]?.effect === "allow" && decision.actions["burn"] === undefined;
}
