// Reading files, where there is a file system.

import { createReadStream, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";

import type { Loader } from "../../wasm/loader.ts";
import type { ByteStream } from "../../base/web.ts";

/** A loader that reads the module from a file. It is asked for only when it is needed. */
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
