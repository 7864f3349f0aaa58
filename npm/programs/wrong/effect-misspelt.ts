import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

const { actions } = pdp.check({ principal, resource, actions: ["view"] });
// TS2367
if (actions.view.effect === "ALLOW") throw new Error();
