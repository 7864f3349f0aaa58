// Measures a check of one limit in memory, `wardgate/ratelimit` beside rate-limiter-flexible, in one run:
//
//     node host-bench/node/ratelimit.mjs
//
// It needs the built package. It compares the answers before it times any. Times are those of the processor, and
// each row is the median of its samples, which take turns.

import { createRequire } from "node:module";

import { limiter, memory } from "../../npm/dist/ratelimit.js";

const require = createRequire(new URL("../../npm/package.json", import.meta.url));
const { RateLimiterMemory } = require("rate-limiter-flexible");
const { version } = require("rate-limiter-flexible/package.json");

const SAMPLES = 9;
const CHECKS = 200_000;
const QUOTA = 1_000_000_000;
const HOUR = 3_600;

await compareAnswers();
for (const keys of [1, 1000, 100_000]) await measure(keys);
process.exit(0); // The other library has a timer for each key.

/** Throws unless both allow as many of the checks of each key. */
async function compareAnswers() {
  const [ours, theirs] = [guard(3), other(3)];
  for (let check = 0; check < 20; check += 1) {
    const id = `user-${check % 4}`;
    const { allowed, limits: [{ remaining }] } = await ours(id);
    const found = await theirs(id).then(({ remainingPoints }) => [true, remainingPoints], ({ remainingPoints }) => [false, remainingPoints]);
    if (String([allowed, remaining]) !== String(found)) throw new Error(`expected ${found}, found ${[allowed, remaining]}`);
  }
}

async function measure(keys) {
  const rows = [
    { name: "wardgate", check: guard(QUOTA), times: [] },
    { name: `rate-limiter-flexible ${version}`, check: other(QUOTA), times: [] },
  ];
  for (let sample = -2; sample < SAMPLES; sample += 1) {
    for (const row of rows) {
      const start = process.cpuUsage();
      // A text as it comes with a request: no table has seen it before.
      for (let at = 0; at < CHECKS; at += 1) await row.check(`user-${(at * 7919) % keys}`);
      const { user, system } = process.cpuUsage(start);
      if (sample >= 0) row.times.push(((user + system) * 1000) / CHECKS);
    }
  }
  const [ours, theirs] = rows.map(({ times }) => times.sort((a, b) => a - b)[SAMPLES >> 1]);
  console.log(`${String(keys).padStart(7)} keys: ${rows[0].name} ${ours.toFixed(0)} ns, ${rows[1].name} ${theirs.toFixed(0)} ns, ratio ${(theirs / ours).toFixed(2)}`);
}

function guard(quota) {
  const limits = limiter({ store: memory({ keys: 1_000_000 }) });
  return (id) => limits.charge([{ name: "api", key: [id], quota, window: HOUR * 1_000_000, algorithm: "fixed" }]);
}

function other(points) {
  const limits = new RateLimiterMemory({ points, duration: HOUR });
  return (id) => limits.consume(id);
}
