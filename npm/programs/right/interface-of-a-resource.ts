import type { Pdp, Resource } from "wardgate";

interface Album extends Resource {
  readonly kind: "album";
  readonly attr: { readonly owner: string };
}

export function decide(pdp: Pdp): boolean {
  const albums: Album[] = ["ada", "bo"].map((owner, at) => ({ kind: "album", id: `a${at}`, attr: { owner } }));
  const editable: Album[] = pdp.filter({ principal: { id: "ada", roles: ["user"] }, action: "edit", resources: albums });
  return editable.length === 1 && editable[0]!.attr.owner === "ada";
}
