import type { Attributes, Pdp } from "wardgate";

export function decide(pdp: Pdp): boolean {
  const attr: Record<string, string> = { owner: "ada" };
  const attributes: Attributes = { ...attr, nested: { deep: [1, null, true] } };
  return pdp.isAllowed({ principal: { id: "ada", roles: ["user"], attr }, action: "edit", resource: { kind: "album", id: "a1", attr: attributes } });
}
