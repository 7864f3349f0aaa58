import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface AlbumRow {
  readonly key: number;
  readonly owner: string;
}

export function decide(pdp: Pdp): boolean {
  const rows: readonly AlbumRow[] = [{ key: 1, owner: "ada" }, { key: 2, owner: "bo" }];
  const editable: AlbumRow[] = pdp.filter({ principal, action: "edit", rows, resource: (row) => ({ kind: "album", id: String(row.key), attr: row }) });
  return editable.length === 1 && editable[0] === rows[0];
}
