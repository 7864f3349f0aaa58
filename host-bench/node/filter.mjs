// Measures lists in Node: the resources among a thousand that a principal may act on. It reads a job like
// `bench.mjs`, with the `actions` of the lists, and writes { "filters": { action: [figure, ...] } }.

import { AbilityBuilder, createMongoAbility, subject } from "@casl/ability";
import { readFileSync } from "node:fs";
import { open } from "../../npm/dist/index.js";
import { measure } from "./measure.mjs";
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
  const expected = principals.map((principal) => byHand(principal));
  const rows = [filter(action, expected), prepared(action, expected), one(action, expected)];
  rows.push(floor(byHand, expected), casl(action, expected));
  const figures = measure(rows, { ...job, requests: principals });
  filters[action] = figures.map((figure) => ({
    ...figure,
    nanoseconds: figure.nanoseconds / ROWS,
    requests: figure.requests * ROWS,
  }));
}
process.stdout.write(JSON.stringify({ filters }));

function filter(action, expected) {
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      wrong += differs(pdp.filter({ principal: principals[i], action, resources }), expected[i]);
    }
    return wrong;
  };
  return { name: "Wardgate filter", side: "ours", run };
}

function prepared(action, expected) {
  const prepared = principals.map((principal) => pdp.for(principal).prepare({ kind: KIND, action }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) wrong += differs(prepared[i].filter(resources), expected[i]);
    return wrong;
  };
  return { name: "Wardgate filter, prepared", side: "ours", run };
}

function one(action, expected) {
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const principal = principals[i];
      const found = resources.filter((resource) => pdp.isAllowed({ principal, action, resource }));
      wrong += differs(found, expected[i]);
    }
    return wrong;
  };
  return { name: "Wardgate isAllowed for each", side: "ours", run };
}

function floor(byHand, expected) {
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) wrong += differs(byHand(principals[i]), expected[i]);
    return wrong;
  };
  return { name: "hand-written", side: "floor", run };
}

function casl(action, expected) {
  const abilities = principals.map(ability);
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const ability = abilities[i];
      const found = marked.filter((resource) => ability.can(action, resource));
      if (found.length !== expected[i].length) wrong++;
    }
    return wrong;
  };
  const name = `CASL ${versionOf("@casl/ability")}, ability and subject prebuilt`;
  return { name, side: "rival", run };
}

function ability({ id, roles }) {
  const { can, cannot, build } = new AbilityBuilder(createMongoAbility);
  if (roles.includes("viewer")) can("view", KIND);
  can("view", KIND, { public: true });
  if (roles.includes("editor")) can("edit", KIND);
  can(["delete", "share"], KIND, { owner: id });
  cannot(["edit", "delete"], KIND, { locked: true });
  return build();
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
