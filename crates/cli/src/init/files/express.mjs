import { readFile } from "node:fs/promises";
import express from "express";
import { open } from "wardgate";
import { authorize } from "wardgate/express";

// "unsigned" is for development: sign the bundle before you deploy it, and name the key here.
const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });

const documents = new Map([["d1", { kind: "document", id: "d1", attr: { owner: "ann", public: false } }]]);

const mayView = authorize(pdp, {
  // Take the user from your session. A header that anybody can set is for this example alone.
  principal: (request) => ({ id: request.get("x-user") ?? "", roles: ["member"] }),
  action: "view",
  resource: (request) => documents.get(request.params.id),
});

const app = express();
app.get("/documents/:id", mayView, (request, response) => response.send(`document ${request.params.id}\n`));
const server = app.listen(process.env.PORT ?? 3000, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
