import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const principal = { id: "ann", roles: ["customer"] };

function view(attr) {
  const resource = { kind: "order", id: "o1", attr };
  const { actions, validationErrors = [] } = pdp.check({ principal, resource, actions: ["view"] });
  return [actions.view.effect, actions.view.reason.kind, ...validationErrors.map(({ path }) => path)].join(" ");
}

console.log(view({ customer: "ann", status: "open", total: 20 })); // allow rule
console.log(view({ customer: "ann", status: "opne", total: 20 })); // deny schema-violation /status
console.log(view({ customer: "ann", status: "open", total: "20" })); // deny schema-violation /total
const create = { principal, action: "create", resource: { kind: "order", id: "new" } };
console.log("create", pdp.isAllowed(create)); // create true
