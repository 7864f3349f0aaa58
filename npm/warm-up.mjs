// Writes `src/pdp/warm-up-bundle.ts`. Run it after a change of the format of tables or bundles;
// `src/pdp/warm-up.test.ts` fails until then.
//
//     WARDGATE=../target/debug/wardgate node warm-up.mjs
//
// The bundle is signed in the name of a key of zeros. The signature has the right form and is
// wrong, so that a verification does all of its work and refuses it. No private key exists for that
// key.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { hash } from "wardgate";

const [PREFIX, DIGEST] = [32, 32];
// The parts of a signature of ML-DSA-87.
const [CHALLENGE, RESPONSE, HINT] = [64, (7 * 256 * 20) / 8, 83];
const command = process.env.WARDGATE ?? "wardgate";
const home = new URL("./", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "warm-up-"));
try {
  const wardgate = (line) => execFileSync(command, line.split(" "), { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  wardgate("keys generate -o thrown-away.jwk --id nobody");
  wardgate(`compile ${new URL("warm-up", home).pathname} -o warm.bundle --sign thrown-away.jwk --name warm-up --revision 1`);
  write(unsignedAgain(new Uint8Array(readFileSync(join(folder, "warm.bundle")))));
} finally {
  rmSync(folder, { recursive: true });
}

/**
 * Replaces the signature by a wrong one of the right form: see docs/BUNDLE.md and FIPS 204,
 * algorithm 26.
 */
function unsignedAgain(bundle) {
  const view = new DataView(bundle.buffer);
  const end = PREFIX + DIGEST + view.getUint32(16, true);
  const start = end - CHALLENGE - RESPONSE - HINT;
  bundle.fill(0, start, end);
  // Each coefficient of the response is 0, which is written as 2^19 in 20 bits.
  for (let at = start + CHALLENGE; at < end - HINT; at += 5) bundle.set([0, 0, 8, 0, 128], at);
  const head = Math.ceil(end / 8) * 8;
  bundle.set(hash(bundle.subarray(0, head)), head);
  return bundle;
}

function write(bundle) {
  const lines = Buffer.from(bundle).toString("base64").match(/.{1,108}/g);
  writeFileSync(new URL("src/pdp/warm-up-bundle.ts", home), `// The bundle of the warm-up, in base64. \`warm-up.mjs\` writes this file.

export const BUNDLE = [
${lines.map((line) => `  "${line}",`).join("\n")}
].join("");
`);
}
