import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

const { reason } = pdp.check({ principal, resource, actions: ["view"] }).actions.view;
// TS2678
switch (reason.kind) { case "no-rule": break; }
