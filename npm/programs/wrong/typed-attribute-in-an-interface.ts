import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

interface Row { readonly owner: number }
declare const row: Row;
// TS2322
pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: row } });
