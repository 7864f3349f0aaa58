// GET /api/documents/d1 with the header x-user
const { readFile } = require("node:fs/promises");

// "unsigned" is for development: sign the bundle before you deploy it, and name the key here.
const pdp = Promise.all([import("wardgate"), readFile("policies.wardgate")]).then(([{ open }, bundle]) =>
  open(bundle, { trust: "unsigned" }),
);

const documents = new Map([["d1", { kind: "document", id: "d1", attr: { owner: "ann", public: false } }]]);

exports.GET = async function GET(request, { params }) {
  const { id } = await params;
  const resource = documents.get(id);
  // Take the user from your session. A header that anybody can set is for this example alone.
  const principal = { id: request.headers.get("x-user") ?? "", roles: ["member"] };
  const isAllowed = resource !== undefined && (await pdp).isAllowed({ principal, action: "view", resource });
  return isAllowed ? new Response(`document ${id}\n`) : new Response("Forbidden", { status: 403 });
};
