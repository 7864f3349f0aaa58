import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const attr = { owner: "ada", seen: new Date(0), tags: new Set(["sea"]), counts: new Map([["views", 3]]) };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } });
}
