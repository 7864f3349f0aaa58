// Runs a test program as WebAssembly: the runner of `cargo test` for WebAssembly.
//
// node program.mjs MODULE [ARGUMENTS]

import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [module, ...rest] = process.argv.slice(2);
const slow = process.env.SLOW_TESTS;
const env = slow === undefined ? {} : { SLOW_TESTS: slow };
const wasi = new WASI({ version: 'preview1', args: ['tests', ...rest], env, returnOnExit: true });
const { instance } = await WebAssembly.instantiate(readFileSync(module), wasi.getImportObject());
process.exitCode = wasi.start(instance);
