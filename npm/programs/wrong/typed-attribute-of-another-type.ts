import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

// TS2322: Type 'number' is not assignable to type 'string'.
pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: { owner: 7 } } });
