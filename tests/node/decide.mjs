// Decides through the npm package what a native test asks on standard input, one job a line:
//   { "bundle": base64, "now": milliseconds, "requests": [...], "rounds"?: n }
// and answers one line each: { "decisions": [canonical JSON, ...], "nanoseconds"?: n }, where
// `nanoseconds` is the median time of one `isAllowed` over `rounds` passes, or { "error": text }.

import { createInterface } from "node:readline";
import { open } from "../../npm/dist/index.js";

const text = new TextDecoder();

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await decide(JSON.parse(line)).catch((error) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function decide({ bundle, now, requests, rounds }) {
  const pdp = await open(Buffer.from(bundle, "base64"), { trust: "unsigned", clock: () => now });
  try {
    const decisions = requests.map((request) => text.decode(pdp.decisionBytes(request)));
    requests.forEach((request, at) => agree(pdp, request, JSON.parse(decisions[at])));
    return rounds === undefined ? { decisions } : { decisions, nanoseconds: time(pdp, requests, rounds) };
  } finally {
    pdp.dispose();
  }
}

// `isAllowed` must say what `check` says.
function agree(pdp, { actions, ...request }, decision) {
  for (const action of actions) {
    const allowed = pdp.isAllowed({ ...request, action });
    if (allowed !== (decision.actions[action].effect === "allow")) {
      throw new Error(`isAllowed and check differ on ${action} of ${JSON.stringify(request)}`);
    }
  }
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
