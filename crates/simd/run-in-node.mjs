// Runs a test binary that was compiled for WebAssembly: the runner that `cargo test` asks for.
//
// A failing test panics, and a panic is a trap there, so the process fails; its text is lost. To see
// which one it was, run the suite natively, or one test at a time.

import { readFileSync } from 'node:fs';

const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), {});
process.exit(instance.exports.main(0, 0));
