import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const ada = pdp.for(principal);
  const mayEdit = ada.prepare({ kind: "album", action: "edit" });
  const mayView = pdp.prepare({ kind: "album", action: "view" });
  const album = { kind: "album", id: "a1", attr: { owner: "ada" } } as const;
  return ada.can("edit", album) && mayEdit.isAllowed(album) && mayView.isAllowed(principal, album);
}
