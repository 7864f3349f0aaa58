// Reads files on runtimes with a file system.

import { promises, readFileSync } from "node:fs";

import type { Loader } from "../../wasm/loader.ts";
import type { ByteReader } from "../../base/web.ts";

/** Returns a loader that reads the module from a file. It resolves the path on first use. */
export function nodeLoader(file: () => URL | string): Loader {
  return {
    async load() {
      return WebAssembly.compile(await promises.readFile(located(file())));
    },
    loadNow() {
      return new WebAssembly.Module(readFileSync(located(file())));
    },
    openFile(address) {
      return { locked: false, getReader: () => new FileReader(new URL(address)) };
    },
  };
}

/**
 * Returns the place of a module. Turbopack takes the address of a file for one of a page, such as
 * `/_next/static/media/wardgate_bg.0a1b.wasm`: the file is where the package has it. The parts are
 * joined here, because Turbopack would take their text for an address too.
 */
function located(file: URL | string): URL | string {
  if (typeof file === "string" || file.protocol === "file:") return file;
  const [name] = file.href.split("/").at(-1)!.split(".");
  return new URL(["..", "..", "wasm", `${name}.wasm`].join("/"), HERE);
}

const HERE = import.meta.url;

/**
 * Reads a file in pieces. The streams of Node would do the same, and importing them costs every
 * program a millisecond.
 */
class FileReader implements ByteReader {
  readonly #address: URL;
  #file: promises.FileHandle | undefined;

  constructor(address: URL) {
    this.#address = address;
  }

  async read(): ReturnType<ByteReader["read"]> {
    this.#file ??= await promises.open(this.#address);
    const { bytesRead, buffer } = await this.#file.read(new Uint8Array(PIECE));
    if (bytesRead > 0) return { done: false, value: buffer.subarray(0, bytesRead) };
    await this.cancel();
    return { done: true };
  }

  async cancel(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }
}

const PIECE = 1 << 18;
