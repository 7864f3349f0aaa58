import type { OutputOf, Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const decision = pdp.check({ principal, resource: { kind: "album", id: "a1", attr: { owner: "ada" } }, actions: ["edit"] });
  const outputs = decision.outputs as readonly OutputOf<Policies>[] | undefined;
  const found = outputs?.find(({ src }) => src === "resource.album.vdefault#owners-edit");
  const by: string | undefined = found?.val?.by;
  return by === undefined;
}
