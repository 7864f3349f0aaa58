// Opens a signed bundle in a fresh process, once and again, for `src/signed.rs`, which sends one job on
// standard input and reads { "rows": [figure, ...] }. The PDP of the first opening answers all requests
// rightly before any other is timed, and each of the others some of them.

import { readFileSync } from "node:fs";
import { open } from "../../npm/dist/node/index.js";
import { median, now } from "./measure.mjs";

const job = JSON.parse(readFileSync(0, "utf8"));
const bundle = new Uint8Array(Buffer.from(job.bundle, "base64"));
const trust = { alg: "ML-DSA-87", key: new Uint8Array(Buffer.from(job.key, "base64")) };

const changed = bundle.slice();
changed[changed.length - 1] ^= 1;

const first = await opened(job.requests.length);
await open(changed, { trust }).then(
  () => Promise.reject(new Error("Wardgate opens what is forged")),
  () => {},
);
const next = [];
for (let at = 0; at < (job.quick ? 7 : 41); at++) next.push(await opened(20));
const figure = (name, nanoseconds) => ({ name, side: "ours", nanoseconds, requests: 0 });
const rows = [figure("Wardgate, the first open", first), figure("Wardgate, open again", median(next))];
process.stdout.write(JSON.stringify({ rows }));

/** Opens, returns the time of it, and then decides some requests. */
async function opened(count) {
  const start = now();
  const pdp = await open(bundle, { trust });
  const taken = now() - start;
  for (let at = 0; at < count; at++) {
    if (pdp.isAllowed(job.requests[at]) !== job.expected[at]) throw new Error("Wardgate: a wrong answer");
  }
  pdp.dispose();
  return taken;
}
