import type { AttributeHolder, Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

class Guard<T extends AttributeHolder & { id: string }> {
  readonly #pdp: Pdp;
  readonly #kind: string;

  constructor(pdp: Pdp, kind: string) {
    this.#pdp = pdp;
    this.#kind = kind;
  }

  may(action: string, row: T): boolean {
    return this.#pdp.isAllowed({ principal, action, resource: { kind: this.#kind, id: row.id, attr: row } });
  }
}

interface Album {
  readonly id: string;
  readonly owner: string;
}

export function decide(pdp: Pdp): boolean {
  return new Guard<Album>(pdp, "album").may("edit", { id: "a1", owner: "ada" });
}
