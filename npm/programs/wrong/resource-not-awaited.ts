import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

declare function find(id: string): Promise<{ kind: string; id: string }>;
// TS2739
pdp.isAllowed({ principal, action: "view", resource: find("a1") });
