// Measures the evaluation alone in Node: frames that are filled already, decided by the module's own call.
// It reads a job like `bench.mjs` and writes { "rows": [figure] }.

import { readFileSync } from "node:fs";
import { measure } from "./measure.mjs";
import { sources } from "./sources.mjs";

const MISSING = 0;
const UNSURE = 2;
const NO_HANDLE = 0xffff;
const [FALSE, TRUE, TEMPORARY] = [3, 4, 1 << 24];

const job = JSON.parse(readFileSync(0, "utf8"));
const { frame, open, planList, planOf, readOptions, start } = await sources("wasm/abi.ts", "pdp/options.ts");
start(new WebAssembly.Module(readFileSync(new URL("../../npm/wasm/wardgate_bg.wasm", import.meta.url))));
const handle = open(Buffer.from(job.bundle, "base64"), readOptions({ trust: "unsigned" }).terms, 0, 0);
const plans = new Map();
const frames = job.requests.map(filled);
const plan = Uint32Array.from(frames, ({ plan }) => plan);
const roles = Uint32Array.from(frames, ({ roles }) => roles);
const first = Uint32Array.from(frames, ({ words }) => words[0]);
const second = Uint32Array.from(frames, ({ words }) => words[1]);
const third = Uint32Array.from(frames, ({ words }) => words[2]);
const { words, decide } = frame();

// Three words are stored for each frame, as many as the largest fast path of the workload has slots; the native
// row does the same.
const run = (from, to) => {
  const { expected } = job;
  let wrong = 0;
  for (let i = from; i < to; i++) {
    words[0] = first[i];
    words[1] = second[i];
    words[2] = third[i];
    if ((decide(handle, plan[i], roles[i]) === 1) !== expected[i]) wrong++;
  }
  return wrong;
};
// The same border and the same words, and a handle of no table: nothing is evaluated.
const border = (from, to) => {
  let wrong = 0;
  for (let i = from; i < to; i++) {
    words[0] = first[i];
    words[1] = second[i];
    words[2] = third[i];
    if (decide(NO_HANDLE, plan[i], roles[i]) !== UNSURE) wrong++;
  }
  return wrong;
};
const deciding = { name: "WebAssembly, filled frame", side: "ours", run };
const crossing = { name: "WebAssembly, words and border alone", side: "floor", run: border };
const rows = measure([deciding, crossing], job);
process.stdout.write(JSON.stringify({ rows }));

/** Fills a frame in the most obvious way. */
function filled(request) {
  const { kind } = request.resource;
  const list = JSON.parse(planList(handle, kind, "", ""));
  const id = list.actions.find(([name]) => name === request.action)?.[1] ?? list.other;
  if (!plans.has(id)) plans.set(id, JSON.parse(planOf(handle, id)));
  const { slots, roles, others } = plans.get(id);
  if (slots.length > 3) throw new Error("a plan of this workload has more than three slots");
  const texts = [];
  const words = slots.map((slot) => wordOf(valueAt(request, slot), slot, texts));
  const mask = request.principal.roles.reduce((mask, role) => {
    return mask | (roles.find(([name]) => name === role)?.[1] ?? others);
  }, 0);
  return { plan: id, roles: mask, words: [...words, MISSING, MISSING, MISSING] };
}

function valueAt(request, { root, path }) {
  return [...root.split("."), ...path].reduce((value, name) => value?.[name], request);
}

function wordOf(value, { constants }, texts) {
  if (value === undefined) return MISSING;
  if (typeof value === "boolean") return value ? TRUE : FALSE;
  const constant = constants.find(([text]) => text === value);
  if (constant !== undefined) return constant[1];
  if (!texts.includes(value)) texts.push(value);
  return TEMPORARY + texts.indexOf(value);
}
