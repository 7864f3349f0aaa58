import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp): boolean {
  const request = JSON.parse('{"action": "edit", "resource": {"kind": "album", "id": "a1", "attr": {"owner": "ada"}}}');
  return pdp.isAllowed({ ...request, principal });
}
