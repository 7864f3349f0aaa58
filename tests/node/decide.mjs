// Decides through the npm package the requests that a native test sends on standard input, one job a line:
//   { "bundle": base64, "now": milliseconds, "requests": [...], "rounds"?: n, "right"?: {...} }
// and answers one line each, or { "error": text }:
//   { "decisions": [canonical JSON, ...], "nanoseconds"?: n, "differences"?: [...], "counts"?: {...} }
// `nanoseconds` is the median time of one `isAllowed` over `rounds` passes. `right` has the answers
// of the native build; every way is compared with it, or else with the decisions (see ways.mjs).

import { createInterface } from "node:readline";
import { open } from "../../npm/dist/node/index.js";
import { compare, decisionBytes } from "./ways.mjs";

const text = new TextDecoder();

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await decide(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function decide({ bundle, now, requests, rounds, right }) {
  const clock = clockAt(now);
  const bytes = Buffer.from(bundle, "base64");
  const settings = { trust: "unsigned", clock: clock.read };
  const pdp = await open(bytes, settings);
  const accessors = right?.accessors ? await accessorsOf(right.accessors) : undefined;
  const accessed = accessors && (await open(bytes, { ...settings, accessors }));
  try {
    const decisions = requests.map((request) => text.decode(decisionBytes(pdp, request)));
    const pdps = { pdp, accessed, clock };
    const answer = { decisions, ...compare(pdps, requests, right ?? asDecided(requests, decisions)) };
    if (rounds !== undefined) answer.nanoseconds = time(pdp, requests, rounds);
    return answer;
  } finally {
    pdp.dispose();
    accessed?.dispose();
  }
}

/** Loads a module of accessors from its text. */
function accessorsOf(source) {
  const entry = new URL("../../npm/dist/node/accessors.js", import.meta.url);
  const module = source.replace('"wardgate/accessors"', JSON.stringify(entry));
  return import(`data:text/javascript;base64,${Buffer.from(module).toString("base64")}`);
}

/** Returns a clock that stands still and counts its readers. */
function clockAt(now) {
  const clock = {
    reads: 0,
    read() {
      clock.reads += 1;
      return now;
    },
  };
  return clock;
}

// Without right answers, every way must agree with `decisionBytes`.
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
