import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

class Entity {
  readonly createdAt = new Date(0);
}

class Album extends Entity {
  readonly owner = "ada";
}

export function decide(pdp: Pdp): boolean {
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: new Album() } });
}
