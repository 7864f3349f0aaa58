// Measures decisions in Node for `wardgate-host-bench`, which sends one job on standard input (see
// `Job` in src/node.rs) and reads { "rows": [figure, ...], "reloads": [figure, ...] }.
//
// Every row must answer every request as expected before it is timed, and again in each pass that is timed.

import { readFileSync } from "node:fs";
import { measure, median, now } from "./measure.mjs";
import { renewal } from "./requests.mjs";
import { rowsOf } from "./rows.mjs";

const job = JSON.parse(readFileSync(0, "utf8"));
job.fresh = job.objects !== "kept";
const rows = [];
for (const name of ["wardgate", "floor", ...job.rivals]) rows.push(...(await rowsOf(name, job)));
const figures = job.reload ? { reloads: await reloads(rows) } : { rows: measure(rows, job, renewal(job)) };
process.stdout.write(JSON.stringify(figures));

/** Times the loading of new policies in each row. */
async function reloads(rows) {
  const figures = [];
  for (const { name, side, reload } of rows) {
    if (reload !== undefined) figures.push(await timesOf(`${name}: ${reload.what}`, side, reload.run));
  }
  return figures;
}

async function timesOf(name, side, run) {
  const times = [];
  const start = now();
  while (times.length < 1 || (times.length < 20 && now() - start < 2e9)) {
    const before = now();
    await run();
    times.push(now() - before);
  }
  return { name, side, nanoseconds: median(times), requests: 0 };
}
