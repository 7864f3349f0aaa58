import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

// TS2820
pdp.isAllowed({ principal, action: "view", resource: { kind: "albun", id: "a1" } });
