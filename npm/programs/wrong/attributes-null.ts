import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

// TS2322
pdp.isAllowed({ principal, action: "view", resource: { ...resource, attr: null } });
