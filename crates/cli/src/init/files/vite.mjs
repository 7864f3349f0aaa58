// A decision in a browser shows or hides; the server has to decide again.
// The plug-in `wardgate/vite` compiles the folder `policies`, and again whenever a file of it is saved.
import policies from "../policies";

// Without a key the bundle is not signed, which is for development: name a key to the plug-in before you deploy.
export const pdp = await policies.open();

const resource = { kind: "document", id: "d2", attr: { owner: "ann", public: true } };
for (const id of ["ann", "bob"]) {
  const principal = { id, roles: ["member"] };
  console.log(id, pdp.isAllowed({ principal, action: "edit", resource }));
}
