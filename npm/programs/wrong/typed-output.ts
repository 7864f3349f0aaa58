import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

const { outputs } = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["edit"] });
const [first] = outputs ?? [];
// TS2339
console.log(first?.val?.who);
