import type { Pdp } from "wardgate";
import type {} from "../registration.d.ts";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };

// TS2322
pdp.isAllowed({ principal, action: "edit", resource: { kind: "album", id: "a1", attr: { owner: 7 } } });
