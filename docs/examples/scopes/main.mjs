import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const principal = { id: "mo", roles: ["manager"] };

for (const scope of ["acme", "acme.hr", "globex"]) {
  const resource = { kind: "expense", id: "e1", scope, attr: { by: "ed", amount: 3000 } };
  const { effect, scope: decidedBy, reason } = pdp.check({ principal, resource, actions: ["approve"] }).actions.approve;
  console.log(`${scope}: ${effect} by "${decidedBy}" ${reason.rule?.split("#")[1] ?? reason.kind}`); // acme: allow by "acme" approve-more, acme.hr: deny by "acme.hr" hr-is-confidential
}
