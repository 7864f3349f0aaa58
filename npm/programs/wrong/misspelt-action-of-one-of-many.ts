import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

const [first, second] = pdp.checkMany([
  { principal, resource, actions: ["view"] },
  { principal, resource, actions: ["edit"] },
]);
first.actions.view;
// TS2339
second.actions.view;
