// The rules most like a rule, by `wardgate/analysis` in Node: see `src/similar.rs`, which sends
// { files, top, questions, expected, quick } on standard input.
//
// An answer has the proved relations and the differences of each rule too, as an object. All are compared with those of
// the native index before anything is timed.

import { deepStrictEqual } from "node:assert";
import { readFileSync } from "node:fs";
import { indexOf } from "../../npm/dist/node/analysis.js";
import { measure } from "./measure.mjs";

const job = JSON.parse(readFileSync(0, "utf8"));
const { index, diagnostics } = await indexOf(job.files);
deepStrictEqual(diagnostics, []);
job.questions.forEach((to, at) => {
  const { policies, rules } = index.similar({ to }, job.top);
  deepStrictEqual({ policies, rules }, job.expected[at]);
});
const run = (from, to) => {
  let wrong = 0;
  for (let at = from; at < to; at++) wrong += Number(index.similar({ to: job.questions[at] }, job.top).rules.length !== 1);
  return wrong;
};
const rows = measure([{ name: `wardgate/analysis, ${job.top} most alike, as an object`, side: "ours", run }], { ...job, requests: job.questions });
process.stdout.write(JSON.stringify({ rows }));
