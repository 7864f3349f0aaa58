import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const attr = { owner: "ada", title: "Sun", teams: new Set(["art"]), taken: new Date(0) };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } })
    && pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: { owner: "ada", place: { city: "Bern", street: "A" } } } });
}
