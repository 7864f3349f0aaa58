import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

const decision = pdp.check({ principal, resource, actions: ["view", "edit"] });
// TS2345
decision.allowedActions().includes("delete");
