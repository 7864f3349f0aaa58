// ML-DSA-87: each call hands a message and a signature over.

import { ml_dsa87 } from "@noble/post-quantum/ml-dsa.js";
import { versionOf } from "../versions.mjs";
import { must, read } from "./bytes.mjs";
import { openModule, RIVALS } from "./modules.mjs";

/** Returns the rows. */
export function mlDsa(job) {
  const key = read(job.key);
  const pairs = job.pairs.map((pair) => pair.map(read));
  const forged = read(job.forged);
  const row = (name, side, verify) => {
    must(!verify(pairs[0][0], forged), name, "accepts what is forged");
    const act = (at) => {
      const [message, signature] = pairs[at % pairs.length];
      return verify(message, signature);
    };
    return { name, side, act };
  };

  const ours = loaded(job, "ours", key);
  const rows = [
    row("Wardgate, prepared key", "ours", ours("verify")),
    row("Wardgate, prepare and verify", "ours", ours("verify_cold")),
  ];
  for (const [name, remark] of RIVALS) {
    const { mlDsa, libcrux } = job.names;
    const rival = loaded(job, name, key);
    rows.push(row(`${mlDsa}${remark}, prepared key`, "rival", rival("ml_dsa_verify")));
    rows.push(row(`${mlDsa}${remark}, from bytes`, "rival", rival("ml_dsa_verify_cold")));
    rows.push(row(`${libcrux}${remark}`, "rival", rival("libcrux_verify")));
  }
  const noble = (message, signature) => ml_dsa87.verify(signature, message, key);
  rows.push(row(`@noble/post-quantum ${versionOf("@noble/post-quantum")}`, "rival", noble));
  return rows;
}

/** Opens a module and returns its calls by name. */
function loaded(job, name, key) {
  const { module, input } = openModule(job, name, 8192, 0);
  input().set(key);
  must(module.take_key(key.length), name, "refuses the key");
  let buffer = input();
  return (call) => (message, signature) => {
    // A view becomes zero bytes long when memory grows.
    if (buffer.length === 0) buffer = input();
    buffer.set(message);
    buffer.set(signature, message.length);
    return module[call](message.length, signature.length);
  };
}
