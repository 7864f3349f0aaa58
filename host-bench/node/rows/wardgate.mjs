// Wardgate through its package. Rows of calls that the built package lacks are left out, so that older
// builds can be measured too.

import { open } from "../../../npm/dist/node/index.js";

/** Returns the rows of Wardgate. */
export async function wardgate(job) {
  const bundle = Buffer.from(job.bundle, "base64");
  const pdp = await open(bundle, { trust: "unsigned" });
  const rows = [isAllowed(job, pdp, bundle)];
  if (job.accessors) rows.push(await withAccessors(job, bundle));
  if (job.fresh) return rows;
  if (pdp.for !== undefined) rows.push(forPrincipal(job, pdp), forTopic(job, pdp), forBoth(job, pdp));
  if (pdp.isAllowedMany !== undefined) rows.push(isAllowedMany(job, pdp));
  rows.push(check(job, pdp));
  return rows;
}

// Each row brings its own loop: one loop for all would call every row through the same call site, and
// the JIT would inline none of them.

function isAllowed(job, pdp, bundle) {
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) if (pdp.isAllowed(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  const reload = { what: "reload", run: () => pdp.reload(bundle) };
  return { name: "Wardgate isAllowed", side: "ours", run, reload };
}

async function withAccessors(job, bundle) {
  const pdp = await open(bundle, { trust: "unsigned", accessors: await import(job.accessors) });
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) if (pdp.isAllowed(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  return { name: "Wardgate isAllowed, accessors", side: "ours", run };
}

function forPrincipal(job, pdp) {
  const { expected } = job;
  // In some workloads a principal does not always have the same attributes.
  const prepared = cached(JSON.stringify, (principal) => pdp.for(principal));
  const questions = job.requests.map(({ principal, action, resource }) => ({
    prepared: prepared(principal),
    action,
    resource,
  }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { prepared, action, resource } = questions[i];
      if (prepared.isAllowed(action, resource) !== expected[i]) wrong++;
    }
    return wrong;
  };
  return { name: "Wardgate for(principal)", side: "ours", run };
}

function forTopic(job, pdp) {
  const { expected } = job;
  const prepared = cached(JSON.stringify, (target) => pdp.prepare(target));
  const questions = job.requests.map(({ principal, action, resource }) => ({
    prepared: prepared(targetOf(resource, action)),
    principal,
    resource,
  }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { prepared, principal, resource } = questions[i];
      if (prepared.isAllowed(principal, resource) !== expected[i]) wrong++;
    }
    return wrong;
  };
  return { name: "Wardgate prepare({ kind, action })", side: "ours", run };
}

function forBoth(job, pdp) {
  const { expected } = job;
  const questions = job.requests.map(({ principal, action, resource }) => ({
    prepared: pdp.for(principal).prepare(targetOf(resource, action)),
    resource,
  }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { prepared, resource } = questions[i];
      if (prepared.isAllowed(resource) !== expected[i]) wrong++;
    }
    return wrong;
  };
  return { name: "Wardgate for(principal).prepare(...)", side: "ours", run };
}

/** Returns what selects the rules of a request, as a caller who prepares for them names it. */
const targetOf = ({ kind, scope, policyVersion }, action) => ({ kind, action, scope, policyVersion });

function isAllowedMany(job, pdp) {
  const { requests, expected } = job;
  const run = (from, to) => {
    const all = from === 0 && to === requests.length;
    const answers = pdp.isAllowedMany(all ? requests : requests.slice(from, to));
    let wrong = 0;
    for (let i = 0; i < answers.length; i++) if (answers[i] !== expected[from + i]) wrong++;
    return wrong;
  };
  return { name: "Wardgate isAllowedMany", side: "ours", run };
}

/** Returns a version of `make` that remembers its results for equal arguments. */
function cached(keyOf, make) {
  const known = new Map();
  return (thing) => {
    const key = keyOf(thing);
    if (!known.has(key)) known.set(key, make(thing));
    return known.get(key);
  };
}

function check(job, pdp) {
  const { expected } = job;
  // V8 gives each `{ ...request, actions }` a hidden class of its own.
  const requests = job.requests.map(({ principal, resource, action }) => ({ principal, resource, actions: [action] }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { actions } = pdp.check(requests[i]);
      if ((actions[requests[i].actions[0]].effect === "allow") !== expected[i]) wrong++;
    }
    return wrong;
  };
  return { name: "Wardgate check", side: "ours", run };
}
