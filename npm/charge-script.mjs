// Writes `src/ratelimit/charge-script.ts`: the script of rate limits on Redis and its digest. `cargo xtask
// generate` runs this program.

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const text = readFileSync(new URL("../crates/ratelimit/src/charge.lua", import.meta.url), "utf8");
const digest = createHash("sha1").update(text).digest("hex");
const lines = text.split("\n").map((line) => JSON.stringify(line));

writeFileSync(
  new URL("src/ratelimit/charge-script.ts", import.meta.url),
  `// Generated from \`crates/ratelimit/src/charge.lua\` by \`cargo xtask generate\`. Do not edit.

/** The script that charges limits on Redis, all or none. */
export const CHARGE_SCRIPT: string = [
${lines.map((line) => `  ${line},\n`).join("")}].join("\\n");

/** The digest by which a server names the script. */
export const CHARGE_DIGEST = "${digest}";
`,
);
