// Decides through the npm package the subscriptions that a native test sends on standard input. The first line is a
// list of topics, and each other one is a set of policies:
//   { "seed": n, "bundle": base64, "subscriptions": [{ "request": {...}, "filter": f, "isAllowed": b, "topics": text }] }
// The answers are those of the native build; `topics` has `1` for each topic of the filter that may be subscribed to, `0`
// for one that may not, and a space for one that the filter does not match.
//
// Each set is answered by one line, { allowed, denied, narrower, counts }, or { fault } if an answer differs, or if a
// subscription is allowed and one of its topics is not. Fast paths decide where they can; the module decides too whatever
// soundness is about: all subscriptions, and the topics of those that are allowed.

import { createInterface } from "node:readline";
import { open } from "../../npm/dist/node/index.js";

let topics;
let reads = 0;
const clock = () => {
  reads += 1;
  return 0;
};

for await (const line of createInterface({ input: process.stdin })) {
  const json = JSON.parse(line);
  if (topics === undefined) {
    topics = json;
    continue;
  }
  const answer = await decideAll(json).catch((error) => ({ fault: `seed ${json.seed}: ${error}` }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function decideAll({ bundle, subscriptions }) {
  const pdp = await open(Buffer.from(bundle, "base64"), { trust: "unsigned", clock });
  try {
    const answer = { allowed: 0, denied: 0, narrower: 0, counts: {} };
    for (const subscription of subscriptions) answer[verdict(pdp, subscription, answer.counts)] += 1;
    return answer;
  } finally {
    pdp.dispose();
  }
}

function verdict(pdp, { request, filter, isAllowed, topics: right }, counts) {
  const decide = (topic, expected) => {
    const ways = isAllowed || topic.filter !== undefined ? [usual, general] : [usual];
    for (const way of ways) mustBe(way(pdp, asked(request, topic), counts), expected, request, topic);
    return expected;
  };
  decide({ filter }, isAllowed);
  let refused;
  for (const [at, topic] of topics.entries()) {
    if (right[at] !== " " && !decide(topic, right[at] === "1")) refused ??= topic;
  }
  if (!isAllowed) return refused === undefined ? "narrower" : "denied";
  if (refused !== undefined) throw new Error(`\`${filter}\` is allowed, and \`${refused}\` is not: ${JSON.stringify(request)}`);
  return "allowed";
}

function asked({ principal, resource }, topic) {
  return { principal, resource: { ...resource, attr: { ...resource.attr, topic } }, action: "subscribe" };
}

function usual(pdp, request, counts) {
  return count(pdp, request, (counts.isAllowed ??= [0, 0]));
}

/** Decides by the module: fast paths leave objects with another prototype to it. */
function general(pdp, request, counts) {
  return count(pdp, Object.assign(Object.create({}), request), (counts.module ??= [0, 0]));
}

/** Decides, and counts the question and whether a fast path decided: those never read the clock. */
function count(pdp, request, tally) {
  const before = reads;
  const answer = pdp.isAllowed(request);
  tally[0] += 1;
  tally[1] += reads > before ? 0 : 1;
  return answer;
}

function mustBe(found, expected, request, topic) {
  if (found === expected) return;
  throw new Error(`${JSON.stringify(topic)}: expected ${expected}, found ${found}: ${JSON.stringify(request)}`);
}
