// `npm run dev`: the worker at http://127.0.0.1:8787, with the policies of this folder.

import { seed, start, TOKEN } from "./local.mjs";

await import("./prepare.mjs");
seed();
console.log(`\nask it:\n\n  curl http://127.0.0.1:8787/access/v1/evaluation -H 'Authorization: Bearer ${TOKEN}' \\
    -H 'Content-Type: application/json' \\
    -d '{"subject":{"type":"user","id":"alice"},"action":{"name":"read"},"resource":{"type":"record","id":"record-1"}}'\n`);
const worker = start(8787, { stdio: "inherit" });
worker.on("exit", (code) => process.exit(code ?? 1));
