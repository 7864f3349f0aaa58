import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const { actions } = pdp.check({ principal, resource: { kind: "album", id: "a1", attr: { owner: "ada" } }, actions: ["view", "edit", "download:cover"] });
  return actions.view.effect === "allow" && actions.edit.effect === "allow" && actions["download:cover"].effect === "deny";
}
