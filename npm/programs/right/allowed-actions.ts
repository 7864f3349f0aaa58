import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const actions: string[] = pdp.allowedActions(principal, { kind: "album", id: "a1", attr: { owner: "ada" } });
  return actions.includes("edit");
}
