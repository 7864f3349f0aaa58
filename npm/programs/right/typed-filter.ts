import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const albums = [{ kind: "album" as const, id: "a1", attr: { owner: "ada" } }, { kind: "album" as const, id: "a2", attr: { owner: "bo" } }];
  const rows = [{ key: 1, owner: "ada" }, { key: 2, owner: "bo" }];
  const resource = (row: { key: number; owner: string }) => ({ kind: "album" as const, id: String(row.key), attr: row });
  return pdp.filter({ principal, action: "edit", resources: albums }).length === 1 && pdp.filter({ principal, action: "edit", rows, resource })[0] === rows[0];
}
