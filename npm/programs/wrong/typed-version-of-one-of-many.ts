import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

pdp.checkMany([
  // TS2322: Type '"v3"' is not assignable to type '"default" | "v2" | undefined'.
  { principal, resource: { kind: "document", id: "d1", policyVersion: "v3" }, actions: ["read"] },
]);
