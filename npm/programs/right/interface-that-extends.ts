import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface Owned {
  owner: string;
}

interface Album extends Owned {
  title: string | null;
}

export function decide(pdp: Pdp): boolean {
  const attr: Album = { owner: "ada", title: null };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } });
}
