import type { Decision, Json, Output, Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

function values({ outputs }: Decision): readonly (Json | undefined)[] {
  return outputs?.map(({ val }: Output) => val) ?? [];
}

export function decide(pdp: Pdp<Policies>): boolean {
  return values(pdp.check({ principal, resource: { kind: "album", id: "a1" }, actions: ["edit"] })).length === 0;
}
