// OPA: its policy compiled to WebAssembly by the `opa` program, run by its own package.

import { loadPolicy } from "@open-policy-agent/opa-wasm";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { versionOf } from "../versions.mjs";

/** Returns a row for each form of the policy. */
export async function opa(job) {
  const rows = [];
  for (const { form, bundle } of job.opa ?? []) rows.push(await row(job, form, bundle));
  return rows;
}

async function row(job, form, bundle) {
  const wasm = policyOf(gunzipSync(readFileSync(bundle)));
  const load = () => loadPolicy(wasm, { initial: 16, maximum: 1024 });
  const policy = await load();
  policy.setData({});
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) {
      if (policy.evaluate(requests[i])[0].result !== expected[i]) wrong++;
    }
    return wrong;
  };
  const name = `opa-wasm ${versionOf("@open-policy-agent/opa-wasm")}, ${form}`;
  return { name, side: "rival", run, reload: { what: "compile and load", run: load } };
}

/** Returns the policy from the archive that `opa build` writes, where each file begins a block of 512. */
function policyOf(tar) {
  for (let at = 0; at + BLOCK <= tar.length; ) {
    const name = text(tar, at, 100);
    const size = Number.parseInt(text(tar, at + 124, 12), 8) || 0;
    if (name.endsWith("policy.wasm")) return tar.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error("no policy.wasm in the archive of opa");
}

function text(tar, at, most) {
  return tar.toString("latin1", at, at + most).split("\0", 1)[0].trim();
}

const BLOCK = 512;
