// Records in the npm package the decisions on the requests that a native test sends on standard input, one job a line:
//   { "bundle": base64, "now": milliseconds, "requests": [...], "right": { "allowed": [[...], ...] } }
// and answers one line each, or { "error": text }:
//   { "segment": base64 }
// The segment has a decision for each request and action, in their order and with evidence. Here they are decided again, too.

import { createInterface } from "node:readline";
import { open } from "../../npm/dist/node/index.js";
import { decisionLog, replay, segmentStart } from "../../npm/dist/node/log.js";

async function record({ bundle, now, requests, right }) {
  const bytes = Buffer.from(bundle, "base64");
  const frames = [segmentStart()];
  const log = decisionLog({ sink: (frame) => void frames.push(frame), evidence: "clear", flushMillis: 0, capacity: 65_536 });
  const pdp = await open(bytes, { trust: "unsigned", clock: () => now, log });
  const expected = [];
  try {
    for (const [at, { actions, ...rest }] of requests.entries()) {
      for (const [which, action] of actions.entries()) {
        const allowed = right.allowed[at][which];
        const way = WAYS[expected.length % WAYS.length];
        if (way(pdp, { ...rest, action }) !== allowed) throw new Error(`\`${action}\` of request ${at} is not ${allowed}: ${way}`);
        expected.push(allowed);
      }
    }
    await log.flush();
  } finally {
    pdp.dispose();
  }
  if (log.lost > 0) throw new Error(`${log.lost} decisions are lost`);
  const segment = Buffer.concat(frames);
  await again(segment, bytes, expected);
  return { segment: segment.toString("base64") };
}

/** Throws unless the same answers are given again. */
async function again(segment, bundle, expected) {
  let at = 0;
  for await (const { number, outcomes } of replay(segment, { bundles: [bundle], trust: "unsigned" })) {
    const { kind, why, isAllowed } = outcomes[0];
    // Of a request that is too large for a record it has the digest alone, or nothing.
    const isLeftOut = why === "digest" || why === "too-large";
    const isRight = isLeftOut || (kind === "same" && isAllowed === expected[at]);
    if (!isRight) throw new Error(`record ${number} is ${kind}, ${why ?? isAllowed}, and not ${expected[at]}`);
    at += 1;
  }
  if (at !== expected.length) throw new Error(`${at} decisions are recorded of ${expected.length}`);
}

/** The ways to a decision on one action, which write evidence in two manners. */
const WAYS = [
  (pdp, request) => pdp.isAllowed(request),
  (pdp, { principal, action, resource, auxData }) => pdp.for(principal, auxData).isAllowed(action, resource),
  (pdp, request) => pdp.isAllowed(request),
  (pdp, { principal, action, resource, auxData }) => pdp.prepare({ kind: resource.kind, action }).isAllowed(principal, resource, auxData),
  (pdp, { action, ...rest }) => pdp.check({ ...rest, actions: [action] }).actions[action].effect === "allow",
];

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await record(JSON.parse(line)).catch((error) => ({ error: String(error?.stack ?? error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
