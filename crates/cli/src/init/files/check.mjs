import { readFile } from "node:fs/promises";
import { open } from "wardgate";

// "unsigned" is for development: sign the bundle before you deploy it, and name the key here.
const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });

const resource = { kind: "document", id: "d2", attr: { owner: "ann", public: true } };
for (const id of ["ann", "bob"]) {
  const principal = { id, roles: ["member"] };
  for (const action of ["view", "edit"]) {
    const answer = pdp.isAllowed({ principal, action, resource }) ? "may" : "may not";
    console.log(`${id} ${answer} ${action} ${resource.id}`);
  }
}
