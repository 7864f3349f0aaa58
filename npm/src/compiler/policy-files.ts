// Reads the files of a caller: paths and contents, in an object or a `Map`.
//
// The module takes contents as bytes. Bytes that are not text become a diagnostic with a position,
// as for a file on disk.

import { bytesOf, describe, describeClass } from "../base/describe.ts";

/**
 * Policies by their paths, with `/` between the segments; schemas are below `_schemas/`. As for the
 * command, the name of a file decides whether it holds policies; other files are ignored.
 */
export type PolicyFiles = Readonly<Record<string, FileContents>> | ReadonlyMap<string, FileContents>;

/** The contents of a file: text, or its bytes. */
export type FileContents = string | Uint8Array | ArrayBuffer;

/** Reads files that come from JavaScript without type checks. */
export function readFiles(files: unknown): [path: string, contents: Uint8Array][] {
  const read: [string, Uint8Array][] = [];
  for (const [path, contents] of entries(files)) {
    if (typeof path !== "string") throw new TypeError(`the path of a file must be a string, found ${describe(path)}`);
    if (LONE_SURROGATE.test(path)) throw new RangeError(`the path ${JSON.stringify(path)} is not Unicode`);
    read.push([path, bytes(path, contents)]);
    // One file more than the limit is enough for a refusal.
    if (read.length > MAX_FILES) break;
  }
  return read;
}

/** Reads one file. */
export function readFile(path: string, contents: unknown): readonly [path: string, contents: Uint8Array] {
  const [file] = readFiles(new Map([[path, contents]]));
  return file!;
}

function entries(files: unknown): Iterable<readonly [unknown, unknown]> {
  if (files instanceof Map) return files as ReadonlyMap<unknown, unknown>;
  if (describeClass(files) === "object") return Object.entries(files as object);
  throw new TypeError(`files must be an object or a Map of paths and contents, found ${describeClass(files)}`);
}

function bytes(path: string, contents: unknown): Uint8Array {
  if (typeof contents === "string") return encoded(contents);
  const bytes = bytesOf(contents);
  if (bytes === undefined) {
    throw new TypeError(`file \`${path}\` must be a string, a Uint8Array or an ArrayBuffer, found ${describeClass(contents)}`);
  }
  // A copy: the caller may write into the bytes before the module is loaded.
  return new Uint8Array(bytes.subarray(0, MAX_FILE_BYTES));
}

function encoded(text: string): Uint8Array {
  const start = text.length > MAX_FILE_BYTES ? text.slice(0, MAX_FILE_BYTES) : text;
  const lone = start.search(LONE_SURROGATE);
  if (lone < 0) return encoder.encode(start).subarray(0, MAX_FILE_BYTES);
  // Half of a surrogate pair has no bytes. A byte that is not text replaces it, and the compiler
  // reports the position.
  const before = encoder.encode(start.slice(0, lone));
  const broken = new Uint8Array(before.length + 1);
  broken.set(before);
  broken[before.length] = NO_TEXT;
  return broken;
}

const encoder = new TextEncoder();
const LONE_SURROGATE = /\p{Surrogate}/u;
const NO_TEXT = 0xff;
/** One byte more than the limit of a file, as the command reads it. */
const MAX_FILE_BYTES = 2 ** 25 + 1;
const MAX_FILES = 1_000_000;
