import type { OutputOf, Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const { outputs } = pdp.check({ principal, resource: { kind: "album", id: "a1", attr: { owner: "ada" } }, actions: ["edit"] });
  const found: OutputOf<Policies, "album"> | undefined = outputs?.find(({ src }) => src === "resource.album.vdefault#owners-edit");
  const by: string | undefined = found?.val?.by;
  const rule: "owners" | undefined = found?.val?.rule;
  return by === rule;
}
