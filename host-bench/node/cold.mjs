// Times the first calls of one row in a fresh process: node cold.mjs ROW, with a job on standard input.

import { readFileSync } from "node:fs";
import { now, time } from "./measure.mjs";
import { rowsOf } from "./rows.mjs";

const job = JSON.parse(readFileSync(0, "utf8"));
// Preparing two thousand requests would warm up code that is to be measured cold.
job.requests = job.requests.slice(0, 100);
const before = now();
const [row] = await rowsOf(process.argv[2], job);
const loaded = now();
const first = row && time(row, 0, 1);
const next = row && time(row, 1, 100) / 99;
const figure = (nanoseconds, requests) => ({ name: row.name, side: row.side, nanoseconds, requests });
const figures = row ? [figure(loaded - before, 0), figure(first, 1), figure(next, 99)] : [];
process.stdout.write(JSON.stringify({ figures }));
