import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  interface Row {
    readonly id: string;
    readonly owner: string | null;
    readonly rating: number;
    readonly place: Place;
  }
  interface Place {
    readonly city: string;
    readonly country: string;
  }
  const row: Row = { id: "a1", owner: "ada", rating: 5, place: { city: "Bern", country: "CH" } };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: row.id, attr: row } });
}
