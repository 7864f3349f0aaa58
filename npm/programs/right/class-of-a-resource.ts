import type { Pdp, Resource } from "wardgate";

class Album implements Resource {
  readonly kind = "album";
  readonly id: string;
  readonly attr: { readonly owner: string };

  constructor(id: string, owner: string) {
    this.id = id;
    this.attr = { owner };
  }
}

export function decide(pdp: Pdp): boolean {
  return pdp.isAllowed({ principal: { id: "ada", roles: ["user"] }, action: "edit", resource: new Album("a1", "ada") });
}
