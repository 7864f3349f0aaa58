import type { CheckRequest, Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";

const principal = { id: "ada", roles: ["user"] };

export function decide(pdp: Pdp<Policies>): boolean {
  const [album, document] = pdp.checkMany([
    { principal, resource: { kind: "album", id: "a1", attr: { owner: "ada" } }, actions: ["edit", "download:cover"] },
    { principal, resource: { kind: "document", id: "d1", attr: { author: "ada", state: "draft" } }, actions: ["read"] },
  ]);
  const rule: "owners" | undefined = album.outputs?.[0]?.val?.rule;
  return rule === undefined && album.actions.edit.effect === "allow" && document.actions.read.effect === "deny" && decideAll(pdp);
}

function decideAll(pdp: Pdp<Policies>): boolean {
  const requests: CheckRequest<"edit", Policies, "album">[] = ["a1", "a2"].map((id) => ({ principal, resource: { kind: "album", id, attr: { owner: "ada" } }, actions: ["edit"] }));
  return pdp.checkMany(requests).every(({ actions }) => actions.edit.effect === "allow");
}
