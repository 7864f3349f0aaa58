import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  class Album {
    readonly id = "a1";
    constructor(readonly owner: string) {}
    get isMine(): boolean {
      return this.owner === principal.id;
    }
  }
  const album = new Album("ada");
  return album.isMine && pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: album.id, attr: album } });
}
