import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };

const { outputs } = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["edit"] });
const [first] = outputs ?? [];
// TS2339
console.log(first?.val?.by);
