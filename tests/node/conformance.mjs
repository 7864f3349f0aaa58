// Runs the conformance program as WebAssembly: the same program, in the engine that hosts run it in.
//
// node conformance.mjs MODULE CORPORA [ARGUMENTS]

import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

const [module, corpora, ...rest] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: ['conformance', '--corpora', '/corpora', ...rest],
  preopens: { '/corpora': corpora },
  returnOnExit: true,
});
const { instance } = await WebAssembly.instantiate(readFileSync(module), wasi.getImportObject());
process.exitCode = wasi.start(instance);
