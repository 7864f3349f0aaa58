// Decides questions of policy tests with the npm package `wardgate`.
//
// Standard input holds lines of JSON, standard output gets a line of JSON for each: first who is asked, then
// bundles by number, and questions about one of them.

import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const pdps = [];
let open;
let now = 0;

for await (const line of createInterface({ input: process.stdin })) {
  try {
    print(await answer(JSON.parse(line)));
  } catch (error) {
    print({ error: error instanceof Error ? error.message : String(error) });
  }
}

function print(answer) {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

async function answer(asked) {
  if (open === undefined) {
    ({ open } = await loadPackage(asked.folder));
    return { ready: true };
  }
  if (asked.bundle !== undefined) {
    const bundle = new Uint8Array(Buffer.from(asked.bundle, "base64"));
    pdps[asked.number] = await open(bundle, { trust: "unsigned", clock: () => now });
    return { number: asked.number };
  }
  now = asked.now;
  const bytes = pdps[asked.number].decisionBytes(asked.request);
  return { decision: JSON.parse(Buffer.from(bytes).toString("utf8")) };
}

/** Node looks from the current folder upwards. A folder that was named must hold the package itself. */
async function loadPackage(isNamed) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new Error(`Node 20 or newer is needed, found ${process.versions.node}`);
  }
  const url = import.meta.resolve("wardgate");
  const path = url.startsWith("file:") ? realpathSync(fileURLToPath(url)) : "";
  if (isNamed && !path.startsWith(`${realpathSync(process.cwd())}${sep}`)) {
    throw new Error("the folder does not hold the package `wardgate`");
  }
  return import(url);
}
