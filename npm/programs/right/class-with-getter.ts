// A getter is a member of the prototype, so the PDP does not see it: name what rules read.

import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

class Album {
  readonly title = "Sea";

  get owner(): string {
    return "ada";
  }
}

export function decide(pdp: Pdp): boolean {
  const album = new Album();
  const mayEdit = (attr: object): boolean => pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: { ...attr } } });
  return !mayEdit(album) && mayEdit({ owner: album.owner });
}
