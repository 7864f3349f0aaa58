// Measures cryptography in Node for `wardgate-host-bench`, which sends one job on standard input (see
// src/crypto/node.rs) and reads { "rows": [figure, ...] }.
//
// A row is { name, side, act(at) }, and `act` returns true if its result was right. Each row is checked before
// it is timed; forged inputs have been refused before.

import { readFileSync } from "node:fs";
import { aead } from "./crypto/aead.mjs";
import { hash } from "./crypto/hash.mjs";
import { mlDsa } from "./crypto/ml-dsa.mjs";
import { measure } from "./measure.mjs";

/** The most acts of one pass, so that reading the clock costs nothing beside them. */
const ACTS = 1000;
const MAKERS = { aead, hash, "ml-dsa": mlDsa };

const job = JSON.parse(readFileSync(0, "utf8"));
const rows = (await MAKERS[job.work](job)).map(counted);
const figures = measure(rows, { quick: job.quick, requests: { length: ACTS } });
process.stdout.write(JSON.stringify({ rows: figures.map((figure) => ({ ...figure, requests: 0 })) }));

function counted({ name, side, act }) {
  const run = (from, to) => {
    let wrong = 0;
    for (let at = from; at < to; at++) if (!act(at)) wrong++;
    return wrong;
  };
  return { name, side, run };
}
