import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

pdp.checkMany([
  { principal, resource: { kind: "album", id: "a1" }, actions: ["view"] },
  // TS2820
  { principal, resource: { kind: "albums", id: "a1" }, actions: ["view"] },
]);
