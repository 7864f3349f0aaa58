// Counts the memory that ten million checks leave behind: node --expose-gc memory.mjs, with a job on standard input.
// It writes { "checks", "heap": [before, after], "linear": [before, after] }, in bytes.

import { readFileSync } from "node:fs";

// The package keeps its memory to itself, so the instance is looked at as it is made.
const memories = [];
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...words) {
    super(...words);
    if (this.exports.memory !== undefined) memories.push(this.exports.memory);
  }
};
const { open } = await import("../../npm/dist/node/index.js");

const CHECKS = 10_000_000;
const job = JSON.parse(readFileSync(0, "utf8"));
const pdp = await open(Buffer.from(job.bundle, "base64"), { trust: "unsigned" });
// The first passes make everything that is made once.
check(CHECKS / 10);
const before = used();
check(CHECKS);
const after = used();
const [heap, linear] = ["heap", "linear"].map((memory) => [before[memory], after[memory]]);
process.stdout.write(JSON.stringify({ checks: CHECKS, heap, linear }));

function check(checks) {
  const { requests, expected } = job;
  for (let done = 0; done < checks; done += requests.length) {
    for (let i = 0; i < requests.length; i++) {
      if (pdp.isAllowed(requests[i]) !== expected[i]) throw new Error(`wrong answer to request ${i}`);
    }
  }
}

function used() {
  globalThis.gc();
  const linear = memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  return { heap: process.memoryUsage().heapUsed, linear };
}
