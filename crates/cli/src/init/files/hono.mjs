import { readFile } from "node:fs/promises";
import { Hono } from "hono";
import { open } from "wardgate";
import { authorize } from "wardgate/hono";

// "unsigned" is for development: sign the bundle before you deploy it, and name the key here.
const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });

const documents = new Map([["d1", { kind: "document", id: "d1", attr: { owner: "ann", public: false } }]]);

const mayView = authorize(pdp, {
  // Take the user from your session. A header that anybody can set is for this example alone.
  principal: (context) => ({ id: context.req.header("x-user") ?? "", roles: ["member"] }),
  action: "view",
  resource: (context) => documents.get(context.req.param("id")),
});

const app = new Hono();
app.get("/documents/:id", mayView, (context) => context.text(`document ${context.req.param("id")}\n`));

for (const user of ["ann", "bob"]) {
  const response = await app.request("/documents/d1", { headers: { "x-user": user } });
  console.log(`${user}: ${response.status}`);
}

export default app;
