// A program that was written for a client of Cerbos, with a PDP in its place: one line is another.

import type { Pdp } from "wardgate";
import { Cerbos } from "wardgate/cerbos";

export async function answers(pdp: Pdp): Promise<readonly unknown[]> {
  const cerbos = new Cerbos(pdp); // before: new HTTP("http://localhost:3592")
  const principal = { id: "ada", roles: ["user"], attr: { tier: "PREMIUM" } };
  const resource = { kind: "album", id: "a1", attr: { owner: "ada" } };
  const mayView = await cerbos.isAllowed({ principal, resource, action: "view" });
  const decision = await cerbos.checkResource({ principal, resource, actions: ["view", "edit", "burn"] });
  return [mayView, decision.allAllowed(), decision.allowedActions()];
}
