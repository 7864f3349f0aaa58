// Decides the requests about a folder of policies for `src/corpus/node.rs`, which sends one job on standard input
// (see `figures` there) and reads { "fast": [[boolean, ...], ...], "checks": the same, "rows": [figure, ...] }.
//
// Every form gives every expected answer before any is timed, for all sets of requests; the first set that has
// some is timed. `fast` tells which decisions `isAllowed` makes on the fast path, `checks` which requests `check`
// answers on it.

import { readFileSync } from "node:fs";
import { open } from "../../npm/dist/node/index.js";
import { measure, time } from "./measure.mjs";

const FULL = { check: 5e8, warmUp: 1.5e8, least: 3e7, sample: 1e6, slowSample: 1e7, samples: 9 };
const QUICK = { ...FULL, warmUp: 3e7, least: 1e7, samples: 5 };

const job = JSON.parse(readFileSync(0, "utf8"));
const bundle = new Uint8Array(Buffer.from(job.bundle, "base64"));
let readings = 0;
const clock = () => {
  readings += 1;
  return job.now;
};
const pdp = await open(bundle, { trust: "unsigned", clock });
const sets = job.sets.map(decisionsOf);
for (const set of sets) for (const row of rowsOf(set)) time(row, 0, row.covers);
const fast = sets.map(({ decisions }) => decisions.map(isFast));
const checks = sets.map(({ requests }) => requests.map(isFastCheck));
const timed = sets.findIndex(({ decisions }) => decisions.length > 0);
const rows = timed < 0 ? [] : timedRows(sets[timed], waysOf(fast[timed], job.programs[timed]));
const measured = measure(rows, { requests: [], bounds: job.quick ? QUICK : FULL });
process.stdout.write(JSON.stringify({ fast, checks, rows: measured }));

/** Returns the requests of a set, and each of their actions as a request of its own. */
function decisionsOf(set) {
  const decisions = [];
  for (const { request, expected, readsTime } of set) {
    const { actions, ...parts } = request;
    actions.forEach((action, at) => {
      decisions.push({ request: received({ ...parts, action }), expected: expected[at], readsTime: readsTime[at] });
    });
  }
  return { requests: set, decisions };
}

/**
 * Returns true if `isAllowed` stays on the fast path. The general path always reads the clock, and a fast path
 * reads it once if a condition does.
 */
function isFast({ request, readsTime }) {
  readings = 0;
  pdp.isAllowed(request);
  return readings <= (readsTime ? 1 : 0);
}

function isFastCheck({ request, readsTime }) {
  readings = 0;
  pdp.check(request);
  return readings <= (readsTime.includes(true) ? 1 : 0);
}

/** Returns the name of the way of each decision; `programs` tells which fast paths may run programs. */
function waysOf(fast, programs) {
  return fast.map((isFast, at) => (!isFast ? "beside fast paths" : programs[at] ? "with programs" : "words only"));
}

function timedRows(set, ways) {
  const rows = rowsOf(set);
  for (const way of ["words only", "with programs", "beside fast paths"]) {
    const decisions = set.decisions.filter((_, at) => ways[at] === way);
    if (decisions.length > 0) rows.push({ ...isAllowed({ decisions }), name: `isAllowed, ${way}` });
  }
  return rows;
}

function rowsOf(set) {
  const rows = [isAllowed, forPrincipal, prepared, forBoth, checkOne, checkAll];
  return rows.map((row) => row(set)).filter(({ covers }) => covers > 0);
}

// Each row brings its own loop: one loop for all would call every row through the same call site, and
// the JIT would inline none of them.

function isAllowed({ decisions }) {
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) if (pdp.isAllowed(decisions[i].request) !== decisions[i].expected) wrong++;
    return wrong;
  };
  return { name: "isAllowed", side: "ours", covers: decisions.length, run };
}

function forPrincipal({ decisions }) {
  const of = cached(({ principal, auxData }) => pdp.for(principal, auxData), "principal", "auxData");
  const all = decisions.map(({ request, expected }) => {
    const { action, resource } = request;
    return { prepared: of(request), action, resource, expected };
  });
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { prepared, action, resource, expected } = all[i];
      if (prepared.isAllowed(action, resource) !== expected) wrong++;
    }
    return wrong;
  };
  return { name: "for(principal)", side: "ours", covers: all.length, run };
}

function prepared({ decisions }) {
  const of = cached(({ target }) => pdp.prepare(target), "target");
  const all = decisions.map(({ request, expected }) => {
    const { principal, resource, auxData } = request;
    return { prepared: of({ target: targetOf(request) }), principal, resource, auxData, expected };
  });
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { prepared, principal, resource, auxData, expected } = all[i];
      if (prepared.isAllowed(principal, resource, auxData) !== expected) wrong++;
    }
    return wrong;
  };
  return { name: "prepare(target)", side: "ours", covers: all.length, run };
}

function forBoth({ decisions }) {
  const of = cached(
    ({ principal, auxData, target }) => pdp.for(principal, auxData).prepare(target),
    "principal", "auxData", "target",
  );
  const all = decisions.map(({ request, expected }) => {
    return { prepared: of({ ...request, target: targetOf(request) }), resource: request.resource, expected };
  });
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { prepared, resource, expected } = all[i];
      if (prepared.isAllowed(resource) !== expected) wrong++;
    }
    return wrong;
  };
  return { name: "for(principal).prepare(target)", side: "ours", covers: all.length, run };
}

function checkOne({ decisions }) {
  const all = decisions.map(({ request: { action, ...parts }, expected }) => {
    return { request: received({ ...parts, actions: [action] }), action, expected };
  });
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { request, action, expected } = all[i];
      if ((pdp.check(request).actions[action].effect === "allow") !== expected) wrong++;
    }
    return wrong;
  };
  return { name: "check, 1 action", side: "ours", covers: all.length, run };
}

function checkAll({ requests }) {
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { request, expected } = requests[i];
      const decided = pdp.check(request).actions;
      for (let at = 0; at < expected.length; at++) {
        if ((decided[request.actions[at]].effect === "allow") !== expected[at]) wrong++;
      }
    }
    return wrong;
  };
  return { name: "check, as requested", side: "ours", covers: requests.length, run };
}

/** Returns a request as a server receives it. V8 gives each `{ ...parts, action }` a hidden class of its own. */
function received(request) {
  return JSON.parse(JSON.stringify(request));
}

/** Returns what a request wants to do, without the resource that it names. */
function targetOf({ action, resource: { kind, scope, policyVersion } }) {
  return { kind, action, ...(scope && { scope }), ...(policyVersion && { policyVersion }) };
}

/** Returns a version of `make` that remembers its results for equal members of its argument. */
function cached(make, ...names) {
  const known = new Map();
  return (parts) => {
    const key = JSON.stringify(names.map((name) => parts[name]));
    if (!known.has(key)) known.set(key, make(parts));
    return known.get(key);
  };
}
