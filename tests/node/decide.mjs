// Decides through the npm package what a native test asks on standard input, one job a line:
//   { "bundle": base64, "now": milliseconds, "requests": [...], "rounds"?: n, "right"?: {...} }
// and answers one line each, or { "error": text }:
//   { "decisions": [canonical JSON, ...], "nanoseconds"?: n, "differences"?: [...], "counts"?: {...} }
// `nanoseconds` is the median time of one `isAllowed` over `rounds` passes. `right` is what the native
// build answers; every way of asking is held to it, or else to the decisions (see ways.mjs).

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { open } from "../../npm/dist/index.js";
import { compare } from "./ways.mjs";

const text = new TextDecoder();
const template = readFileSync(new URL("../../crates/cli/src/accessors/template.js", import.meta.url), "utf8");
const ACCESSORS_EVERY = 50;
let jobs = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await decide(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function decide({ bundle, now, requests, rounds, right }) {
  const bytes = Buffer.from(bundle, "base64");
  const options = { trust: "unsigned", clock: () => now };
  const pdp = await open(bytes, options);
  const accessors = jobs % ACCESSORS_EVERY === 0 ? await accessorsFor(bytes, requests) : undefined;
  const fast = accessors && (await open(bytes, { ...options, accessors }));
  jobs += 1;
  try {
    const decisions = requests.map((request) => text.decode(pdp.decisionBytes(request)));
    const answer = { decisions, ...(await compare(pdp, requests, right ?? asDecided(requests, decisions), fast)) };
    if (rounds !== undefined) answer.nanoseconds = time(pdp, requests, rounds);
    return answer;
  } finally {
    fast?.dispose();
    pdp.dispose();
  }
}

// The module that `wardgate compile --emit` would write, with some names of the requests in it: which
// names a module knows must not matter to its answers. A module stays in memory, so few jobs get one.
async function accessorsFor(bytes, requests) {
  const attributes = requests.flatMap(({ principal, resource }) => [principal.attr, resource.attr]);
  const every = [...new Set(attributes.flatMap((attr) => Object.keys(attr ?? {})))];
  const names = every.filter((_, at) => at % 3 !== 0).slice(0, 100);
  const reads = names.map((name, at) => {
    const text = JSON.stringify(name);
    return `case ${64 + at}: if (${text} in OBJECT) return UNSURE; v = o[${text}]; break;\n`;
  });
  const fill = { BUNDLE: JSON.stringify(bytes.toString("hex", 32, 64)), NAMES: JSON.stringify(names), READS: reads.join("") };
  const entry = new URL("../../npm/dist/accessors.js", import.meta.url).href;
  const text = template.replaceAll(/\b(BUNDLE|NAMES|READS)\b/g, (name) => fill[name]).replace("wardgate/accessors", entry);
  return import(`data:text/javascript,${encodeURIComponent(text)}`);
}

// Without better knowledge, every way must say what `decisionBytes` says.
function asDecided(requests, decisions) {
  const effects = decisions.map((decision) => JSON.parse(decision).actions);
  const allowed = requests.map(({ actions }, at) => actions.map((action) => effects[at][action].effect === "allow"));
  return { allowed, batches: [] };
}

function time(pdp, requests, rounds) {
  const single = requests.map(({ actions, ...request }) => ({ ...request, action: actions[0] }));
  const passes = Array.from({ length: rounds }, () => {
    const start = process.hrtime.bigint();
    for (const request of single) pdp.isAllowed(request);
    return Number(process.hrtime.bigint() - start) / single.length;
  });
  return passes.sort((a, b) => a - b)[rounds >> 1];
}
