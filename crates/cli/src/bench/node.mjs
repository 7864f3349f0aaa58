// Measures decisions of the npm package `wardgate` in this Node, as `native.rs` does natively.
//
// Standard input holds a line of JSON, the job; as many lines with requests as it says; and the bundle.
// Standard output gets a line of JSON: the figures, or what went wrong under `error`. Every answer is
// compared with the expected one before anything is timed.

import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { performance } from "node:perf_hooks";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

// The same as in `native.rs`, `samples.rs` and `clock.rs`. Times are milliseconds.
const STRETCH = 0.1;
const SHORT = 1 << 18;
const ROUNDS = 50;
const READINGS = 200;
const MAX_GROUP = 1024;
// Decisions between two looks at the heap, at most.
const MOST_HEAP_STRETCH = 1000;

const memories = watchMemories();
try {
  print(await measure(readJob(await buffer(process.stdin))));
} catch (error) {
  print({ error: { kind: error?.kind ?? "other", message: messageOf(error), at: error?.at } });
}

function print(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function failure(kind, message, at) {
  return Object.assign(new Error(message), { kind, at });
}

function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** Notes every memory that a module exports: the package keeps its own to itself. */
function watchMemories() {
  const found = new Set();
  const Instance = WebAssembly.Instance;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      for (const it of Object.values(this.exports)) {
        if (it instanceof WebAssembly.Memory) found.add(it);
      }
    }
  };
  return found;
}

function readJob(input) {
  let at = 0;
  const line = () => {
    const end = input.indexOf(10, at);
    const text = input.toString("utf8", at, end);
    at = end + 1;
    return JSON.parse(text);
  };
  const job = line();
  const questions = [];
  for (let left = job.requests; left > 0; left -= 1) {
    const request = line();
    for (const action of request.actions) questions.push(questionOf(request, action));
  }
  return { ...job, questions, bundle: new Uint8Array(input.subarray(at)) };
}

/** Objects as callers write them: copies made by spreading are read several times more slowly. */
function questionOf({ principal, resource, auxData }, action) {
  if (auxData === undefined) return { principal, action, resource };
  return { principal, action, resource, auxData };
}

async function measure({ now, seconds, expected, folder, questions, bundle }) {
  const pdp = await openBundle(folder, bundle, now);
  compare(pdp, questions, expected);
  const quarter = (seconds * 1000) / 4;
  run(pdp, questions, quarter / 2);
  sample(pdp, questions, 1, quarter / 2);
  globalThis.gc();
  const before = memory();
  const pace = run(pdp, questions, quarter);
  const clock = lookAtClock((pace.milliseconds * 1e6) / pace.decisions);
  const samples = sample(pdp, questions, clock.group, quarter * 1.5);
  globalThis.gc();
  const after = memory();
  return {
    node: process.versions.node,
    decisions: pace.decisions,
    seconds: pace.milliseconds / 1000,
    clock,
    samples,
    heapPerDecision: heapPerDecision(pdp, questions, heapStretch(pace), quarter / 2),
    heapGrowth: after.heap - before.heap,
    linearSize: after.linear,
    linearGrowth: after.linear - before.linear,
  };
}

async function openBundle(folder, bundle, now) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw failure("package", `Node 20 or newer is needed, found ${process.versions.node}`);
  }
  const { open } = await loadPackage(folder);
  try {
    return await open(bundle, { trust: "unsigned", clock: () => now });
  } catch (error) {
    throw failure("bundle", messageOf(error));
  }
}

/** Node looks from the current folder upwards. A folder that was named must hold the package itself. */
async function loadPackage(folder) {
  try {
    const url = import.meta.resolve("wardgate");
    if (folder && !fileURLToPath(url).startsWith(realpathSync(process.cwd()) + sep)) {
      throw new Error("this folder holds another package");
    }
    return await import(url);
  } catch (error) {
    throw failure("package", messageOf(error));
  }
}

function compare(pdp, questions, expected) {
  for (let at = 0; at < questions.length; at += 1) {
    let answer;
    try {
      answer = pdp.isAllowed(questions[at]) ? "allows" : "denies";
    } catch (error) {
      throw failure("differs", `fails: ${messageOf(error)}`, at);
    }
    if ((answer === "allows") !== (expected[at] === "1")) throw failure("differs", answer, at);
  }
}

/** Decides until the time is over, and looks at the clock seldom. */
function run(pdp, questions, milliseconds) {
  let [decisions, stretch, at] = [0, 1, 0];
  const start = performance.now();
  let before = start;
  for (;;) {
    for (let left = stretch; left > 0; left -= 1) {
      pdp.isAllowed(questions[at]);
      at = at + 1 === questions.length ? 0 : at + 1;
    }
    decisions += stretch;
    const now = performance.now();
    if (now - start >= milliseconds) return { decisions, milliseconds: now - start };
    if (now - before < STRETCH) stretch *= 2;
    before = now;
  }
}

/** Times groups of decisions until the time is over: nanoseconds, and how often they occurred. */
function sample(pdp, questions, group, milliseconds) {
  const short = new Float64Array(SHORT);
  const long = [];
  let at = 0;
  const end = performance.now() + milliseconds;
  for (;;) {
    const start = performance.now();
    for (let left = group; left > 0; left -= 1) {
      pdp.isAllowed(questions[at]);
      at = at + 1 === questions.length ? 0 : at + 1;
    }
    const now = performance.now();
    const took = Math.max(0, Math.round((now - start) * 1e6));
    if (took < SHORT) short[took] += 1;
    else long.push(took);
    if (now >= end) return counts(short, long);
  }
}

function counts(short, long) {
  const found = [];
  short.forEach((count, took) => {
    if (count > 0) found.push([took, count]);
  });
  return found.concat(long.map((took) => [took, 1]));
}

/** Measures the cost of reading the clock and its smallest step; sizes the groups of decisions. */
function lookAtClock(decision) {
  let [cost, step] = [Infinity, Infinity];
  // Whatever else the machine does makes a round longer, never shorter.
  for (let left = ROUNDS; left > 0; left -= 1) {
    const round = readClock();
    cost = Math.min(cost, round.cost);
    step = Math.min(step, round.step);
  }
  let group = 1;
  while (group * decision < Math.max(cost, step) && group < MAX_GROUP) group *= 2;
  return { cost, step, group };
}

function readClock() {
  const start = performance.now();
  let [last, step] = [start, Infinity];
  for (let left = READINGS; left > 0; left -= 1) {
    const now = performance.now();
    if (now > last && now - last < step) step = now - last;
    last = now;
  }
  return { cost: ((last - start) * 1e6) / READINGS, step: step * 1e6 };
}

function memory() {
  let linear = 0;
  for (const it of memories) linear += it.buffer.byteLength;
  return { heap: process.memoryUsage().heapUsed, linear };
}

/** As many decisions as a millisecond has room for: few enough to come between two collections. */
function heapStretch({ decisions, milliseconds }) {
  return Math.min(MOST_HEAP_STRETCH, Math.max(1, Math.round(decisions / milliseconds)));
}

/** Measures the heap that a decision takes, outside of stretches in which the collector ran. */
function heapPerDecision(pdp, questions, stretch, milliseconds) {
  const end = performance.now() + milliseconds;
  let [bytes, decisions, at] = [0, 0, 0];
  do {
    // Looking takes from the heap too, which the first difference tells.
    const first = process.memoryUsage().heapUsed;
    const second = process.memoryUsage().heapUsed;
    for (let left = stretch; left > 0; left -= 1) {
      pdp.isAllowed(questions[at]);
      at = at + 1 === questions.length ? 0 : at + 1;
    }
    const third = process.memoryUsage().heapUsed;
    if (first <= second && second <= third) {
      bytes += third - second - (second - first);
      decisions += stretch;
    }
  } while (performance.now() < end);
  return Math.max(0, bytes / Math.max(decisions, 1));
}
