// node vitest.mjs CONFIG [WORD...] QUESTIONS REPORT
//
// Runs the one test of a runtime that vitest starts. The words behind the name of the configuration reach it as
// a list in the environment: vitest would take arguments for names of tests.

import { startVitest } from "vitest/node";

const [config, ...words] = process.argv.slice(2);
process.env.WARDGATE_PARITY = JSON.stringify(words);
const vitest = await startVitest("test", [], { config, root: import.meta.dirname, watch: false });
await vitest.close();
const files = vitest.state.getFiles();
const isPassed = files.length === 1 && files[0].result?.state === "pass";
// A browser that does not end must not block the run.
process.exit(isPassed ? 0 : 1);
