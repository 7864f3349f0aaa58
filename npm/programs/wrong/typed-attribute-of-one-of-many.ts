import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

pdp.checkMany([
  // TS2322: Type 'number' is not assignable to type 'string'.
  { principal, resource: { kind: "album", id: "a1", attr: { owner: 3 } }, actions: ["view"] },
]);
