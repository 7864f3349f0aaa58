// A decision in a browser shows or hides; the server has to decide again.
// The plug-in `wardgate/vite` compiles the folder `policies`, and again whenever a file of it is saved.
import policies from "../policies";

// For production set WARDGATE_SIGNING_KEY to the file of a key of `npx wardgate keys generate`: without one the bundle of
// `vite build` is not signed.
export const pdp = await policies.open();

const resource = { kind: "document", id: "d2", attr: { owner: "ann", public: true } };
for (const id of ["ann", "bob"]) {
  const principal = { id, roles: ["member"] };
  console.log(id, pdp.isAllowed({ principal, action: "edit", resource }));
}
