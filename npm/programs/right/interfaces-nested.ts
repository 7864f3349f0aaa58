import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface Place {
  readonly city: string;
  readonly since: Date;
}

interface Album {
  readonly owner: string;
  readonly places: readonly Place[];
  readonly home: Place | null;
}

export function decide(pdp: Pdp): boolean {
  const home: Place = { city: "Oslo", since: new Date(0) };
  const attr: Album = { owner: "ada", places: [home], home };
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr } });
}
