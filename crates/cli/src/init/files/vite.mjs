// Import this from your page. A decision in a browser shows or hides; the server has to decide again.
import { open } from "wardgate";

// "unsigned" is for development: sign the bundle before you deploy it, and name the key here.
export const pdp = await open(fetch("/policies.wardgate"), { trust: "unsigned" });

const resource = { kind: "document", id: "d2", attr: { owner: "ann", public: true } };
for (const id of ["ann", "bob"]) {
  const principal = { id, roles: ["member"] };
  console.log(id, pdp.isAllowed({ principal, action: "edit", resource }));
}
