// Measures decisions in Node for `wardgate-host-bench`, which sends one job on standard input:
//   { "bundle": base64, "kinds": n, "requests": [...], "expected": [boolean, ...] }
// and reads { "node": version, "rows": [{ "name", "side", "nanoseconds" }, ...] }.
//
// Every row must answer every request as expected before it is timed, and again in each pass that is
// timed. Rows are warmed up and take turns as in `src/measure.rs`.

import { readFileSync } from "node:fs";
import { open } from "../../npm/dist/index.js";

const WARM_UP_PASSES = 200;
const WARM_UP = 1e9;
const SAMPLE = 5e6;
const SAMPLES = 20;

const job = JSON.parse(readFileSync(0, "utf8"));
const pdp = await open(Buffer.from(job.bundle, "base64"), { trust: "unsigned" });
const rows = [isAllowed(), check(), handWritten(), ...(await casl())];
const measured = measure(rows);
process.stdout.write(JSON.stringify({ node: process.versions.node, rows: measured }));
pdp.dispose();

// Each row brings its own loop: one loop for all would call every row through the same call site, and
// the JIT would inline none of them.

function isAllowed() {
  const { requests, expected } = job;
  const pass = () => {
    let wrong = 0;
    for (let i = 0; i < requests.length; i++) if (pdp.isAllowed(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  return { name: "Wardgate isAllowed", side: "ours", pass };
}

function check() {
  const { expected } = job;
  const requests = job.requests.map(({ action, ...request }) => ({ ...request, actions: [action] }));
  const allows = (request) => pdp.check(request).actions[request.actions[0]].effect === "allow";
  const pass = () => {
    let wrong = 0;
    for (let i = 0; i < requests.length; i++) if (allows(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  return { name: "Wardgate check", side: "ours", pass };
}

function handWritten() {
  const { requests, expected } = job;
  const kinds = new Set(Array.from({ length: job.kinds }, (_, number) => `kind_${number}`));
  const allows = ({ principal, action, resource }) => {
    if (!kinds.has(resource.kind)) return false;
    const { attr } = resource;
    switch (action) {
      case "view":
        return principal.roles.includes("viewer") || attr.public === true;
      case "list":
        return principal.roles.includes("viewer");
      case "edit":
        return principal.roles.includes("editor") && attr.locked !== true;
      case "delete":
        return attr.owner === principal.id && attr.locked !== true;
      case "share":
        return attr.owner === principal.id;
      default:
        return false;
    }
  };
  const pass = () => {
    let wrong = 0;
    for (let i = 0; i < requests.length; i++) if (allows(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  return { name: "hand-written", side: "floor", pass };
}

// CASL keeps an ability for each principal and is asked about resources that carry their kind already:
// the figure is the least that it takes.
async function casl() {
  const library = await import("@casl/ability").catch(() => undefined);
  if (library === undefined) {
    process.stderr.write("CASL is left out: run `npm ci` in host-bench/node\n");
    return [];
  }
  const { expected } = job;
  const abilities = new Map();
  const requests = job.requests.map(({ principal, action, resource }) => {
    if (!abilities.has(principal.id)) abilities.set(principal.id, ability(library, principal));
    return { id: principal.id, action, resource: library.subject(resource.kind, { ...resource.attr }) };
  });
  const allows = ({ id, action, resource }) => abilities.get(id).can(action, resource);
  const pass = () => {
    let wrong = 0;
    for (let i = 0; i < requests.length; i++) if (allows(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  return [{ name: `CASL ${caslVersion()}, ability cached`, side: "rival", pass }];
}

function ability({ AbilityBuilder, createMongoAbility }, { id, roles }) {
  const { can, cannot, build } = new AbilityBuilder(createMongoAbility);
  for (let number = 0; number < job.kinds; number++) {
    const kind = `kind_${number}`;
    if (roles.includes("viewer")) can(["view", "list"], kind);
    can("view", kind, { public: true });
    if (roles.includes("editor")) can("edit", kind);
    can(["delete", "share"], kind, { owner: id });
    cannot(["edit", "delete"], kind, { locked: true });
  }
  return build();
}

function caslVersion() {
  const pinned = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
  return pinned.dependencies["@casl/ability"];
}

function measure(rows) {
  for (const row of rows) run(row, 1);
  const timed = rows.map((row) => ({ row, passes: warmUp(row), times: [] }));
  const turns = [...timed];
  for (let sample = 0; sample < SAMPLES; sample++) {
    for (const { row, passes, times } of turns) {
      times.push(run(row, passes) / (passes * job.requests.length));
    }
    turns.reverse();
  }
  return timed.map(({ row: { name, side }, times }) => ({ name, side, nanoseconds: median(times) }));
}

function run({ name, pass }, passes) {
  let wrong = 0;
  const start = process.hrtime.bigint();
  for (let i = 0; i < passes; i++) wrong += pass();
  const time = Number(process.hrtime.bigint() - start);
  if (wrong > 0) throw new Error(`${name}: ${wrong} wrong answers`);
  return time;
}

// Returns the passes of one sample, from the last of the warm-up: the first ones run interpreted.
function warmUp(row) {
  const start = process.hrtime.bigint();
  let last = 1;
  for (let passes = 0; passes < WARM_UP_PASSES; passes++) {
    last = run(row, 1);
    if (Number(process.hrtime.bigint() - start) > WARM_UP) break;
  }
  return Math.ceil(SAMPLE / last);
}

function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}
