// Opens through the npm package the bundles that a native test opens too, one job a line:
//   { "bundle": base64, "base"?: base64, "trust": ..., ...options of `open` }
// and answers a line each: the code of the refusal, or "opened". A base is opened first,
// and then reloaded with the bundle.

import { createInterface } from "node:readline";
import { open, WardgateError } from "../../npm/dist/node/index.js";

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await answer(JSON.parse(line))}\n`);
}

async function answer({ bundle, base, unsealKey, ...options }) {
  const settings = { ...options, ...(unsealKey && { unsealKey: bytes(unsealKey) }) };
  const first = await attempt(() => open(bytes(base ?? bundle), settings));
  if (typeof first === "string" || base === undefined) return codeOf(first);
  try {
    return codeOf(await attempt(() => first.reload(bytes(bundle), { now: options.now })));
  } finally {
    first.dispose();
  }
}

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    return error instanceof WardgateError ? error.code : String(error);
  }
}

function codeOf(outcome) {
  if (typeof outcome === "string") return outcome;
  outcome?.dispose();
  return "opened";
}

function bytes(text) {
  return new Uint8Array(Buffer.from(text, "base64"));
}
