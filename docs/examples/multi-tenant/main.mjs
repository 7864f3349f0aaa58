import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const projects = [
  { kind: "project", id: "p1", attr: { tenant: "acme", supportUntil: "2100-01-01T00:00:00Z" } },
  { kind: "project", id: "p2", attr: { tenant: "globex", supportUntil: "1970-01-01T00:00:00Z" } },
];
const people = [
  { id: "ann", roles: ["user"], attr: { memberships: { acme: "admin", globex: "member" } } },
  { id: "bob", roles: ["user"], attr: { memberships: { globex: "member" } } },
  { id: "sue", roles: ["support"] },
];

const ids = (found) => found.map(({ id }) => id).join(" ") || "nothing";
for (const principal of people) {
  const [views, deletes] = ["view", "delete"].map((action) => ids(pdp.filter({ principal, action, resources: projects })));
  console.log(`${principal.id} views ${views} and deletes ${deletes}`); // ann views p1 p2 and deletes p1, bob views p2 and deletes nothing, sue views p1 and deletes nothing
}
