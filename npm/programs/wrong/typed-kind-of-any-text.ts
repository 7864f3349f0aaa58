import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

const kind: string = "album";
// TS2322
pdp.isAllowed({ principal, action: "view", resource: { kind, id: "a1" } });
