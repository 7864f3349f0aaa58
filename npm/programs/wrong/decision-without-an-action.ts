import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

import type { Decision } from "wardgate";
declare function show(decision: Decision<"view" | "edit">): void;
// TS2345
show(pdp.check({ principal, resource, actions: ["view"] }));
