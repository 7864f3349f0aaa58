import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

const decisions = pdp.checkMany([{ principal, resource, actions: ["view"] }]);
// TS2493
decisions[1];
