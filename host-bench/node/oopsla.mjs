// The graphs of `src/oopsla.rs` in Node, which sends { bundle, graphs, quick } on standard input.
//
// Every graph is answered once before it is timed, and a pass over its 500 requests is one sample. Entities are
// found by their ids within that time. Their lists are sets of texts, made when they are loaded, as in the native rows.

import { readFileSync } from "node:fs";
import { open, textSet } from "../../npm/dist/node/index.js";
import { median, now } from "./measure.mjs";

const WARM_UP_GRAPHS = 10;
const WARM_UP_PASSES = 50;

const job = JSON.parse(readFileSync(0, "utf8"));
const pdp = await open(Buffer.from(job.bundle, "base64"), { trust: "unsigned" });
for (const { users, resources } of job.graphs) for (const { attr } of [...users, ...resources]) hashLists(attr);
const graphs = job.graphs.map(({ users, resources, requests }) => ({
  users: new Map(users.map((user) => [user.id, user])),
  prepared: new Map(users.map((user) => [user.id, pdp.for(user)])),
  resources: new Map(resources.map((resource) => [resource.id, resource])),
  requests,
}));
const runs = job.quick ? 2 : 3;
const rows = [row("Wardgate isAllowed", isAllowed), row("Wardgate for a principal", forPrincipal)];
process.stdout.write(JSON.stringify({ rows }));

/** Replaces the lists among attributes by sets of texts. */
function hashLists(attr) {
  for (const [name, value] of Object.entries(attr)) if (Array.isArray(value)) attr[name] = textSet(value);
}

/** Warms up on some graphs, then times a pass over each. */
function row(name, run) {
  for (let pass = 0; pass < WARM_UP_PASSES; pass++) for (const graph of graphs.slice(0, WARM_UP_GRAPHS)) take(name, run, graph);
  const samples = [];
  for (let turn = 0; turn < runs; turn++) {
    samples.push(
      graphs.map((graph) => {
        take(name, run, graph);
        return take(name, run, graph);
      }),
    );
  }
  return { name, side: "ours", nanoseconds: median(samples.flat()), requests: 0, runs: samples };
}

/** Returns the nanoseconds of one decision about a graph. */
function take(name, run, graph) {
  const start = now();
  const wrong = run(graph);
  const taken = now() - start;
  if (wrong > 0) throw new Error(`${name}: ${wrong} wrong answers`);
  return taken / graph.requests.length;
}

// A loop for each row: a shared one would call both through one call site.

function isAllowed({ users, resources, requests }) {
  let wrong = 0;
  for (let at = 0; at < requests.length; at++) {
    const [user, action, resource, expected] = requests[at];
    const request = { principal: users.get(user), action, resource: resources.get(resource) };
    if (pdp.isAllowed(request) !== expected) wrong++;
  }
  return wrong;
}

function forPrincipal({ prepared, resources, requests }) {
  let wrong = 0;
  for (let at = 0; at < requests.length; at++) {
    const [user, action, resource, expected] = requests[at];
    if (prepared.get(user).isAllowed(action, resources.get(resource)) !== expected) wrong++;
  }
  return wrong;
}
