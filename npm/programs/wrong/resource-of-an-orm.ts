import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

interface AlbumRow { readonly id: string; readonly owner: string }
declare const rows: readonly AlbumRow[];
// TS2769
pdp.filter({ principal, action: "view", resources: rows });
