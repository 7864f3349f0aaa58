import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

function mayEdit<T extends { owner: string }>(pdp: Pdp, row: T): boolean {
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: { owner: row.owner } } });
}

export function decide(pdp: Pdp): boolean {
  return mayEdit(pdp, { owner: "ada", title: "Sea" });
}
