import type { Output, Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const resource = { kind: "document", id: "d1", attr: { author: "ada", state: "draft" } } as const;
  const outputs: readonly Output[] | undefined = pdp.check({ principal, resource, actions: ["read"] }).outputs;
  return outputs === undefined;
}
