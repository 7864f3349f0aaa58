import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const buttons = pdp.allowedActions(principal, { kind: "album", id: "a1", attr: { owner: "ada" } });
  const has: boolean = buttons.includes("edit");
  return has;
}
