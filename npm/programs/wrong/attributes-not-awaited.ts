import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

declare function find(id: string): Promise<{ owner: string }>;
// TS2322
pdp.isAllowed({ principal, action: "view", resource: { ...resource, attr: find("a1") } });
