import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

// TS2322
pdp.isAllowed({ principal, action: "read", resource: { kind: "document", id: "d1", attr: { author: "ada" } } });
