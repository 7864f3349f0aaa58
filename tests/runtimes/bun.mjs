// bun bun.mjs QUESTIONS REPORT

import { run } from "./run.mjs";

const [questions, report] = Bun.argv.slice(2);
await Bun.write(report, JSON.stringify(await run(`Bun ${Bun.version}`, Bun.file(questions).stream())));
