// Measures lists in Node: the resources among a thousand that a principal may act on. It reads a job like
// `bench.mjs`, with the `actions` of the lists, and writes { "filters": { action: [figure, ...] } }.

import { subject } from "@casl/ability";
import { readFileSync } from "node:fs";
import { open } from "../../npm/dist/node/index.js";
import { measure } from "./measure.mjs";
import { ability } from "./rows/casl.mjs";
import { versionOf } from "./versions.mjs";

const job = JSON.parse(readFileSync(0, "utf8"));
const KIND = job.kinds[0];
const ROWS = 1000;
const resources = job.requests
  .slice(0, ROWS)
  .map(({ resource: { id, attr } }) => ({ kind: KIND, id, attr }));
const principals = firstOfEachRole(job.requests.map(({ principal }) => principal));
const marked = resources.map(({ attr }) => subject(KIND, { ...attr }));
const pdp = await open(Buffer.from(job.bundle, "base64"), { trust: "unsigned" });

// The rules by hand, one loop for each action, as a programmer writes the list of one page.
const BY_HAND = {
  view: ({ roles }) =>
    roles.includes("viewer")
      ? resources.filter(({ kind }) => kind === KIND)
      : resources.filter(({ kind, attr }) => kind === KIND && attr.public === true),
  edit: ({ roles }) =>
    roles.includes("editor")
      ? resources.filter(({ kind, attr }) => kind === KIND && attr.locked !== true)
      : [],
  share: ({ id }) => resources.filter(({ kind, attr }) => kind === KIND && attr.owner === id),
  delete: ({ id }) =>
    resources.filter(({ kind, attr }) => kind === KIND && attr.owner === id && attr.locked !== true),
};

const filters = {};
for (const [action, byHand] of Object.entries(BY_HAND)) {
  const expected = principals.map(byHand);
  const prepared = principals.map((principal) => pdp.for(principal).prepare({ kind: KIND, action }));
  const rows = [
    row("Wardgate filter", "ours", expected, (at) => pdp.filter({ principal: principals[at], action, resources })),
    row("Wardgate filter, prepared", "ours", expected, (at) => prepared[at].filter(resources)),
    row("Wardgate isAllowed for each", "ours", expected, (at) => {
      const principal = principals[at];
      return resources.filter((resource) => pdp.isAllowed({ principal, action, resource }));
    }),
    row("hand-written", "floor", expected, (at) => byHand(principals[at])),
    casl(action, expected),
  ];
  const figures = measure(rows, { ...job, requests: principals });
  filters[action] = figures.map((figure) => ({
    ...figure,
    nanoseconds: figure.nanoseconds / ROWS,
    requests: figure.requests * ROWS,
  }));
}
process.stdout.write(JSON.stringify({ filters }));

/** Makes a row; `find` returns the list of principal `at`, which takes far longer than a turn of the loop. */
function row(name, side, expected, find) {
  const run = (from, to) => {
    let wrong = 0;
    for (let at = from; at < to; at++) wrong += differs(find(at), expected[at]);
    return wrong;
  };
  return { name, side, run };
}

function casl(action, expected) {
  const abilities = principals.map((principal) => ability([KIND], principal));
  const name = `CASL ${versionOf("@casl/ability")}, ability and subject prebuilt`;
  const markedOf = new Map(resources.map((resource, at) => [resource, marked[at]]));
  const allowed = expected.map((list) => list.map((resource) => markedOf.get(resource)));
  return row(name, "rival", allowed, (at) => {
    const ability = abilities[at];
    return marked.filter((resource) => ability.can(action, resource));
  });
}

/** Compares both ends: comparing all rows would cost more than deciding about them. */
function differs(found, expected) {
  const last = expected.length - 1;
  return found.length === expected.length && found[0] === expected[0] && found[last] === expected[last]
    ? 0
    : 1;
}

function firstOfEachRole(principals) {
  const found = new Map();
  for (const principal of principals) {
    const roles = principal.roles.join();
    if (!found.has(roles)) found.set(roles, principal);
  }
  return [...found.values()];
}
