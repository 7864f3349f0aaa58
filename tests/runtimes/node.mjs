// node node.mjs QUESTIONS REPORT

import { createReadStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { run } from "./run.mjs";

const [questions, report] = process.argv.slice(2);
const stream = Readable.toWeb(createReadStream(questions));
await writeFile(report, JSON.stringify(await run(`Node ${process.versions.node}`, stream)));
