import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

const [first] = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["edit"] }).outputs ?? [];
// TS2339
console.log(first?.val?.who);
