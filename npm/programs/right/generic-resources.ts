import type { Pdp, Resource } from "wardgate";

function visible<R extends Resource>(pdp: Pdp, rows: readonly R[]): R[] {
  return pdp.filter({ principal: { id: "ada", roles: ["user"] }, action: "view", resources: rows });
}

export function decide(pdp: Pdp): boolean {
  const rows = visible(pdp, [{ kind: "album", id: "a1", title: "Sea" } as const]);
  return rows[0]?.title === "Sea";
}
