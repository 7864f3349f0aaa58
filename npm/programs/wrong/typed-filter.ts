import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

const resources = [{ kind: "album" as const, id: "a1" }];
// TS2769
pdp.filter({ principal, action: "read", resources });
