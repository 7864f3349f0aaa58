import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

type Album = { owner: string; shared: boolean | undefined };

export function decide(pdp: Pdp): boolean {
  const attr: Album = { owner: "ada", shared: undefined };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } });
}
