import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

class Album {
  readonly owner = "ada";
  private readonly draft = true;
  readonly #secret = 7;

  reveal(): number {
    return this.draft ? this.#secret : 0;
  }
}

export function decide(pdp: Pdp): boolean {
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: new Album() } });
}
