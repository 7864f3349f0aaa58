// Reads files on runtimes with a file system.

import { createReadStream, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";

import type { Loader } from "../../wasm/loader.ts";
import type { ByteStream } from "../../base/web.ts";

/** Returns a loader that reads the module from a file. It resolves the path on first use. */
export function nodeLoader(file: () => URL | string): Loader {
  return {
    async load() {
      return WebAssembly.compile(await readFile(file()));
    },
    loadNow() {
      return new WebAssembly.Module(readFileSync(file()));
    },
    openFile(address) {
      return Readable.toWeb(createReadStream(new URL(address))) as ByteStream;
    },
  };
}
