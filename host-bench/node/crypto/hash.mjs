// BLAKE3: one message, or many. The modules have the bytes in their memory beforehand, except where a row says
// that each call hands them over.

import { blake3 } from "@noble/hashes/blake3.js";
import { createBLAKE3 } from "hash-wasm";
import { versionOf } from "../versions.mjs";
import { bytesOf, equal, must, read } from "./bytes.mjs";
import { openModule, RIVALS } from "./modules.mjs";

const DIGEST = 32;

/** Returns the rows. */
export async function hash(job) {
  const { count, bytes } = job;
  const digests = read(job.digests);
  const last = digests.subarray((count - 1) * DIGEST);
  const messages = Array.from({ length: count }, (_, message) => bytesOf(message, bytes));
  return [...ours(job, messages, digests), ...crates(job, messages, digests), ...(await scripts())];

  async function scripts() {
    const hasher = await createBLAKE3();
    const names = ["hash-wasm", "@noble/hashes"].map((name) => `${name} ${versionOf(name)}`);
    return [
      script(names[0], (message) => hasher.init().update(message).digest("binary")),
      script(names[1], (message) => blake3(message)),
    ];
  }

  function script(name, digestOf) {
    messages.forEach((message, at) => {
      const expected = digests.subarray(at * DIGEST, (at + 1) * DIGEST);
      must(equal(digestOf(message), expected), name, "a digest is wrong");
    });
    const act = () => {
      let found;
      for (const message of messages) found = digestOf(message);
      return sameAt(found, 0, last);
    };
    return { name, side: "rival", act };
  }
}

function ours(job, messages, digests) {
  const { count, bytes } = job;
  const buffers = filled(job, "ours", messages);
  const { module } = buffers;
  const name = count === 1 ? "Wardgate hash" : "Wardgate hashMany";
  const call = count === 1 ? () => module.hash(1, bytes) : () => module.hash_many(count, bytes);
  const rows = [
    row(`${name}, handed over`, "ours", buffers, digests, () => {
      const input = buffers.input();
      for (let at = 0; at < count; at++) input.set(messages[at], at * bytes);
      call();
    }),
    row(`${name}, in place`, "ours", buffers, digests, call),
  ];
  if (count > 1) {
    const one = () => module.hash(count, bytes);
    rows.push(row("Wardgate hash, one by one, in place", "ours", buffers, digests, one));
  }
  return rows;
}

function crates(job, messages, digests) {
  const how = job.count === 1 ? "" : ", one by one";
  return RIVALS.map(([name, remark]) => {
    const buffers = filled(job, name, messages);
    const call = () => buffers.module.hash(job.count, job.bytes);
    return row(`${job.names.blake3}${remark}${how}, in place`, "rival", buffers, digests, call);
  });
}

/** Makes a row of a module. All digests are compared once, later only the last: see src/crypto/hash.rs. */
function row(name, side, buffers, digests, call) {
  call();
  must(equal(buffers.output(), digests), name, "a digest is wrong");
  const at = digests.length - DIGEST;
  const last = digests.subarray(at);
  let output = buffers.output();
  const act = () => {
    if (output.length === 0) output = buffers.output();
    // A digest of the call before must not pass for one of this call.
    output[at] = ~last[0];
    call();
    return sameAt(output, at, last);
  };
  return { name, side, act };
}

/** Returns a module with all messages in its buffers. */
function filled(job, name, messages) {
  const { count, bytes } = job;
  const { module, input, output } = openModule(job, name, count * bytes, count * DIGEST);
  let view = input();
  messages.forEach((message, at) => view.set(message, at * bytes));
  const renewed = () => (view.length === 0 ? (view = input()) : view);
  return { module, input: renewed, output };
}

function sameAt(found, at, expected) {
  for (let byte = 0; byte < DIGEST; byte++) if (found[at + byte] !== expected[byte]) return false;
  return true;
}
