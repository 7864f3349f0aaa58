import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface Album {
  readonly owner: string;
  readonly tags?: readonly string[];
}

export function decide(pdp: Pdp): boolean {
  const attr: Album = { owner: "ada" };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } });
}
