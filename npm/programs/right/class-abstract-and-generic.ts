import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

abstract class Entity<T> {
  readonly owner = "ada";
  abstract readonly value: T;
}

class Album extends Entity<readonly string[]> {
  readonly value = ["sea"];
}

export function decide(pdp: Pdp): boolean {
  const entity: Entity<unknown> = new Album();
  return pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: entity } });
}
