import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

interface Album {
  readonly type: "album";
  readonly owner: string;
}

interface Draft {
  readonly type: "draft";
  readonly author: string;
}

export function decide(pdp: Pdp): boolean {
  const rows: (Album | Draft)[] = [{ type: "album", owner: "ada" }, { type: "draft", author: "ada" }];
  const resources = rows.map((attr, at) => ({ kind: "album", id: String(at), attr }));
  const editable = pdp.filter({ principal, action: "edit", resources });
  return editable.length === 1 && editable[0]!.attr.type === "album";
}
