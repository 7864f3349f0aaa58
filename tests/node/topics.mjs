// Compares `cover` of `wardgate/mqtt`, and `matchesTopic` of policies, with brute force:
//
//   node topics.mjs BUNDLE PAIRS
//
// The bundle is compiled from `topics.yaml` beside it: `subscribe` is allowed where all is matched, `unsubscribe` is
// denied where something is.

import { readFileSync } from "node:fs";
import { open } from "../../npm/dist/node/index.js";
import { mqtt } from "../../npm/dist/node/mqtt.js";

const WORDS = ["a", "b", "x"];
const LEVELS = 4;
const NAMES = names();

const [bundle, pairs] = process.argv.slice(2);
await mqtt.load();
const pdp = await open(readFileSync(bundle), { trust: "unsigned" });
const known = new Map();
let state = 20_261_124;
const seen = { all: 0, part: 0, none: 0 };
for (let number = 0; number < Number(pairs); number += 1) check();
console.log(`${pairs} pairs: ${JSON.stringify(seen)}`);
pdp.dispose();

function check() {
  const patterns = Array.from({ length: 1 + random(3) }, pattern);
  const asked = random(2) === 0 ? pattern() : NAMES[random(NAMES.length)];
  const union = patterns.map(matched).reduce((all, one) => all | one);
  const bits = matched(asked);
  const right = (bits & ~union) === 0n ? "all" : (bits & union) === 0n ? "none" : "part";
  seen[right] += 1;
  const found = mqtt.cover(asked, patterns);
  mustBe(typeof found === "string" ? found : "part", right, asked, patterns);
  if (right === "part") {
    const place = NAMES.indexOf(found.part);
    const isWitness = place < 0 || ((bits >> BigInt(place)) & 1n) === 1n && ((union >> BigInt(place)) & 1n) === 0n;
    mustBe(isWitness, true, asked, patterns);
  }
  const topic = /[+#]/.test(asked) ? { filter: asked } : asked;
  const principal = { id: "p", roles: ["r"], attr: { patterns } };
  const resource = { kind: "mqtt:topic", id: "t", attr: { topic } };
  for (const [action, verdict] of [["subscribe", "all"], ["unsubscribe", "none"]]) {
    mustBe(pdp.isAllowed({ principal, resource, action }), right === verdict, asked, patterns);
  }
}

function pattern() {
  const words = Array.from({ length: 1 + random(LEVELS - 1) }, () => ["a", "b", "+", "+"][random(4)]);
  if (random(2) === 0) words[words.length - 1] = "#";
  return words.join("/");
}

/** Returns a bit for each name that a filter matches, level by level. */
function matched(filter) {
  if (!known.has(filter)) {
    const bits = NAMES.map((name) => (matches(filter.split("/"), name.split("/")) ? "1" : "0"));
    known.set(filter, BigInt(`0b${bits.reverse().join("")}`));
  }
  return known.get(filter);
}

function matches([first, ...filter], name) {
  if (first === "#") return true;
  if (name.length === 0 || (first !== "+" && first !== name[0])) return false;
  if (filter.length === 0) return name.length === 1;
  return (filter[0] === "#" && name.length === 1) || matches(filter, name.slice(1));
}

function names() {
  let longest = WORDS;
  const all = [...WORDS];
  for (let level = 1; level < LEVELS; level += 1) {
    longest = longest.flatMap((name) => WORDS.map((word) => `${name}/${word}`));
    all.push(...longest);
  }
  return all;
}

function random(most) {
  state = (state * 48_271) % 2_147_483_647;
  return state % most;
}

function mustBe(found, expected, asked, patterns) {
  if (found !== expected) throw new Error(`${asked} by ${patterns}: expected ${expected}, found ${found}`);
}
