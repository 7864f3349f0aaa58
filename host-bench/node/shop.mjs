// The shop of `src/end_to_end.rs` in Hono. The file that is named first tells where to listen, the database, the
// policies and the callers, and the servers to ask.

import { readFileSync } from "node:fs";
import { serve } from "@hono/node-server";
import Database from "better-sqlite3";
import { Hono } from "hono";
import { open } from "../../npm/dist/node/index.js";

const job = JSON.parse(readFileSync(process.argv[2], "utf8"));
const pdp = await open(readFileSync(job.bundle), { trust: "unsigned" });
const users = new Map(job.users.map((user) => [user.id, user]));
const database = new Database(job.database, { readonly: true, fileMustExist: true });
const select = database.prepare("SELECT owner, region, status, total, sealed FROM orders WHERE id = ?");

const app = new Hono();
app.get("/without/orders/:id", (context) => show(context, () => true));
app.get("/in-process/orders/:id", (context) => show(context, isAllowed));
app.get("/wardgate/orders/:id", (context) => showAfter(context, job.wardgate));
app.get("/cerbos/orders/:id", (context) => showAfter(context, job.cerbos));
serve({ fetch: app.fetch, hostname: job.host, port: job.port });

/** Shows an order, if the caller may view it. */
function show(context, mayView) {
  const { user, order, status } = read(context);
  if (order === undefined) return context.body(null, status);
  return mayView(user, order) ? answer(context, order) : context.body(null, 403);
}

/** Shows an order, if a server says that the caller may view it. */
async function showAfter(context, server) {
  const { user, order, status } = read(context);
  if (order === undefined) return context.body(null, status);
  return (await isAllowedBy(server, user, order)) ? answer(context, order) : context.body(null, 403);
}

/** Finds the caller, and reads the order from the database. */
function read(context) {
  const user = users.get(context.req.header("x-user"));
  if (user === undefined) return { status: 401 };
  const id = context.req.param("id");
  const row = select.get(id);
  if (row === undefined) return { status: 404 };
  const { owner, region, status, total, sealed } = row;
  return { user, order: { id, owner, region, status, total, sealed: sealed === 1 } };
}

function answer(context, { id, owner, region, status, total }) {
  return context.json({ id, owner, region, status, total });
}

function isAllowed(principal, order) {
  return pdp.isAllowed({ principal, action: "view", resource: { kind: "order", id: order.id, attr: order } });
}

async function isAllowedBy(server, principal, { id, owner, region, sealed }) {
  const resource = { kind: "order", id, attr: { owner, region, sealed } };
  const response = await fetch(`http://${server}/api/check/resources`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ requestId: "1", principal, resources: [{ actions: ["view"], resource }] }),
  });
  const { results } = await response.json();
  return results[0].actions.view === "EFFECT_ALLOW";
}
