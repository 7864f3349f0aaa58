// deno run --allow-read --allow-write deno.mjs QUESTIONS REPORT

import { run } from "./run.mjs";

const [questions, report] = Deno.args;
const file = await Deno.open(questions);
await Deno.writeTextFile(report, JSON.stringify(await run(`Deno ${Deno.version.deno}`, file.readable)));
