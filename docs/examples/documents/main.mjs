import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const documents = [
  { kind: "document", id: "draft", attr: { owner: "ann", team: "design", public: false, archived: false } },
  { kind: "document", id: "news", attr: { owner: "ann", team: "design", public: true, archived: false } },
  { kind: "document", id: "old", attr: { owner: "ann", team: "design", public: true, archived: true } },
];

// A principal that asks about many resources is prepared once.
const bob = pdp.for({ id: "bob", roles: ["member"], attr: { teams: ["design"] } });
const ids = (found) => found.map(({ id }) => id).join(" ");
console.log("bob may view:", ids(bob.filter("view", documents))); // bob may view: draft news old
console.log("bob may edit:", ids(bob.filter("edit", documents))); // bob may edit: draft news

// `check` gives the reasons too.
const principal = { id: "ann", roles: ["member"], attr: { teams: ["design"] } };
const { actions } = pdp.check({ principal, resource: documents[2], actions: ["delete"] });
console.log(actions.delete.effect, actions.delete.reason.rule); // deny resource.document.vdefault#archived
