import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface Note {
  text?: string;
}

export function decide(pdp: Pdp): boolean {
  const note: Note = {};
  return pdp.isAllowed({ principal: { ...principal, attr: note }, action: "view", resource: { kind: "album", id: "a1", attr: note } });
}
