import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

const { outputs } = pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["edit"] });
// TS2367
outputs?.some(({ val }) => val?.rule === "guests");
