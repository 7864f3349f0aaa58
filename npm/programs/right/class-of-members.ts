import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

class Album {
  readonly owner: string;
  tags: string[] = [];

  constructor(owner: string) {
    this.owner = owner;
  }

  isEmpty(): boolean {
    return this.tags.length === 0;
  }
}

export function decide(pdp: Pdp): boolean {
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: new Album("ada") } });
}
