import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

// TS2345
pdp.for(principal).isAllowed("read", { kind: "album", id: "a1" });
