import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const row = { name: "Bob", team: "sales", phone: "555-0101", salary: 50000, address: "Main Street 1", manager: "ann" };

/** Returns the fields of an employee that the principal may see; `undefined` if it may not view the employee. */
function view(principal, id, row) {
  const resource = { kind: "employee", id, attr: { manager: row.manager } };
  const { actions, outputs = [] } = pdp.check({ principal, resource, actions: ["view"] });
  if (actions.view.effect !== "allow") return undefined;
  // An output that failed has `error` and no `val`: a mask that is not known is not applied by guessing.
  const fields = outputs.flatMap((output) => output.val ?? []);
  return Object.fromEntries(fields.map((field) => [field, row[field]]));
}

const seen = (id, roles = ["employee"]) => Object.keys(view({ id, roles }, "bob", row) ?? {}).join(" ") || "nothing";
console.log("eve sees", seen("eve")); // eve sees name team phone
console.log("bob sees", seen("bob")); // bob sees name team phone salary address
console.log("ann sees", seen("ann")); // ann sees name team phone salary
console.log("a visitor sees", seen("vic", ["visitor"])); // a visitor sees nothing
