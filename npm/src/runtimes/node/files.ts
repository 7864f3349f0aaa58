// Reads files on runtimes with a file system.

import { promises, readFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";

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
 * Returns the place of a module. Bundlers of Next take the address of a file for one of a page, such as
 * `/_next/static/media/wardgate_bg.0a1b.wasm`: the file is where the package has it. The parts are
 * joined here, because Turbopack would take their text for an address too.
 */
function located(file: URL | string): URL | string {
  if (typeof file === "string") return file;
  const [name] = file.href.split("/").at(-1)!.split(".");
  const place = file.protocol === "file:" ? file : new URL(["..", "..", "wasm", `${name}.wasm`].join("/"), HERE);
  return isThere(place) ? place : (packaged(`${name}.wasm`) ?? place);
}

const HERE = import.meta.url;

/**
 * Returns the module in the package below the working folder, or a folder above it. A server that Next has copied to
 * another place (`output: "standalone"`) needs this: webpack writes the address that the package had during the build.
 */
function packaged(name: string): URL | undefined {
  const path = ["node_modules", "wardgate", "wasm", name].join("/");
  for (let folder = pathToFileURL(`${process.cwd()}/`); ; folder = new URL("../", folder)) {
    const file = new URL(path, folder);
    if (isThere(file)) return file;
    if (folder.pathname === new URL("../", folder).pathname) return undefined;
  }
}

function isThere(file: URL): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

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
