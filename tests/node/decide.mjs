// Decides through the npm package what a native test asks on standard input, one job a line:
//   { "bundle": base64, "now": milliseconds, "requests": [...], "rounds"?: n, "right"?: {...} }
// and answers one line each, or { "error": text }:
//   { "decisions": [canonical JSON, ...], "nanoseconds"?: n, "differences"?: [...], "counts"?: {...} }
// `nanoseconds` is the median time of one `isAllowed` over `rounds` passes. `right` is what the native
// build answers; every way of asking is held to it, or else to the decisions (see ways.mjs).

import { createInterface } from "node:readline";
import { open } from "../../npm/dist/index.js";
import { compare } from "./ways.mjs";

const text = new TextDecoder();

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await decide(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function decide({ bundle, now, requests, rounds, right }) {
  const pdp = await open(Buffer.from(bundle, "base64"), { trust: "unsigned", clock: () => now });
  try {
    const decisions = requests.map((request) => text.decode(pdp.decisionBytes(request)));
    const answer = { decisions, ...(await compare(pdp, requests, right ?? asDecided(requests, decisions))) };
    if (rounds !== undefined) answer.nanoseconds = time(pdp, requests, rounds);
    return answer;
  } finally {
    pdp.dispose();
  }
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
