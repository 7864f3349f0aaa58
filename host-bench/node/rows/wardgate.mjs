// Wardgate through its package. Rows of calls that the built package lacks are left out, so that older
// builds can be measured too.

import { open } from "../../../npm/dist/index.js";

/** The rows of Wardgate. */
export async function wardgate(job) {
  const bundle = Buffer.from(job.bundle, "base64");
  const pdp = await open(bundle, { trust: "unsigned" });
  const rows = [isAllowed(job, pdp, bundle)];
  if (job.objects === "kept") rows.push(check(job, pdp));
  return rows;
}

// Each row brings its own loop: one loop for all would call every row through the same call site, and
// the JIT would inline none of them.

function isAllowed(job, pdp, bundle) {
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) if (pdp.isAllowed(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  const reload = { what: "reload", run: () => pdp.reload(bundle) };
  return { name: "Wardgate isAllowed", side: "ours", run, reload };
}

function check(job, pdp) {
  const { expected } = job;
  const requests = job.requests.map(({ action, ...request }) => ({ ...request, actions: [action] }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { actions } = pdp.check(requests[i]);
      if ((actions[requests[i].actions[0]].effect === "allow") !== expected[i]) wrong++;
    }
    return wrong;
  };
  return { name: "Wardgate check", side: "ours", run };
}
