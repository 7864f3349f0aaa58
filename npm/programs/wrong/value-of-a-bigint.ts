import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

import type { Attributes } from "wardgate";
// TS2322
const attributes: Attributes = { size: 1n };
pdp.isAllowed({ principal, action: "view", resource: { ...resource, attr: attributes } });
