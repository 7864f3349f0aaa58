// Measures the size of a batch from which a pool of workers is faster than the calling thread:
//
//     cargo xtask test && node host-bench/node/pool.mjs
//
// It needs the built package and its fixtures. It compares the answers before it times any, and prints
// the median of several runs: the cost of a resource here, the cost of its copy, and whole batches both ways.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus } from "node:os";

import { open } from "../../npm/dist/node/index.js";
import { createPool } from "../../npm/dist/node/pool.js";

const RUNS = 9;
const bundle = readFileSync(new URL("../../npm/fixtures/album.bundle", import.meta.url));
const pdp = await open(bundle, { trust: "unsigned" });
const principal = { id: "ada", roles: ["user"] };

/** Albums with five attributes, as records or as maps: of a map the fast path is unsure. */
function albums(count, isMap) {
  return Array.from({ length: count }, (_, at) => {
    const attr = { owner: at % 3 ? `u${at}` : "ada", shared: ["bo", "cy"], public: at % 2 === 0, size: at, title: `Holidays ${at}` };
    return { kind: "album", id: `a${at}`, attr: isMap ? new Map(Object.entries(attr)) : attr };
  });
}

/** Returns the milliseconds of the median run, after as many to warm up. */
async function middle(work) {
  const times = [];
  for (let run = 0; run < 2 * RUNS; run += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.slice(RUNS).sort((one, other) => one - other)[RUNS >> 1];
}

function print(name, milliseconds, count) {
  console.log(`${name.padEnd(44)} ${String(count).padStart(6)} ${milliseconds.toFixed(2).padStart(9)} ms ${((milliseconds * 1e6) / count).toFixed(0).padStart(7)} ns each`);
}

const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
console.log(`${cpus()[0].model}, ${cpus().length} processors, Node ${process.version}, commit ${commit}`);

const rows = albums(10_000, false);
const ask = (resources, action = "edit") => ({ principal, action, resources });
print("equalities, in columns", await middle(() => pdp.filter(ask(rows))), rows.length);
print("a program", await middle(() => pdp.filter(ask(rows, "share"))), rows.length);
print("a copy", await middle(() => structuredClone(rows)), rows.length);

for (const size of [1, 2]) {
  const pool = await createPool(bundle, { trust: "unsigned", size });
  for (const count of [256, 512, 1000, 2000, 5000, 20_000]) {
    const unsure = albums(count, true);
    const [here, there] = [pdp.filter(ask(unsure)), await pool.filter(ask(unsure))];
    if (here.length !== Math.ceil(count / 3) || here.some((row, at) => row !== there[at])) throw new Error("the answers differ");
    let blocked = 0;
    print("the general path, here", await middle(() => pdp.filter(ask(unsure))), count);
    const whole = await middle(async () => {
      const start = performance.now();
      const batch = pool.filter(ask(unsure));
      blocked = performance.now() - start;
      await batch;
    });
    print(`the general path, pool of ${size}`, whole, count);
    print("    of that, the calling thread is held", blocked, count);
  }
  pool.close();
}
