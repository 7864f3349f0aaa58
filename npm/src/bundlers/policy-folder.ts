// The files of a folder of policies, as the compiler takes them.

import type { Dirent } from "node:fs";
import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { PolicyError } from "./policy-error.ts";

/** Returns the policies, schemas and tests below a folder by their paths, with `/` between the segments. */
export async function readFolder(folder: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await entriesOf(folder);
  const files = await Promise.all(entries.filter(({ name }) => isPolicyFile(name)).map((entry) => contentOf(folder, entry)));
  return new Map(files.flat().sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the folder, its files of policies and all folders below it: what a bundler must watch to see each change. */
export async function pathsIn(folder: string): Promise<readonly string[]> {
  const entries = await entriesOf(folder).catch(() => []);
  const watched = entries.filter((entry) => entry.isDirectory() || isPolicyFile(entry.name));
  return [folder, ...watched.map(({ parentPath, name }) => join(parentPath, name))];
}

/** Returns true if a file is in the folder, at any depth, and may change its bundle. */
export function hasFile(folder: string, file: string): boolean {
  const path = relative(folder, file);
  return isPolicyFile(file) && path !== "" && !isAbsolute(path) && path.split(sep)[0] !== "..";
}

/** Returns true if a folder is there. */
export async function isFolder(path: string): Promise<boolean> {
  return stat(path).then((about) => about.isDirectory(), () => false);
}

function isPolicyFile(name: string): boolean {
  return /\.(ya?ml|json)$/i.test(name);
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true });
  } catch (error) {
    throw new PolicyError(`the folder \`${folder}\` of policies cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`);
  }
}

/** Returns a file with its path, or nothing if it is gone or lies elsewhere. */
async function contentOf(folder: string, entry: Dirent): Promise<[path: string, content: Uint8Array][]> {
  const file = join(entry.parentPath, entry.name);
  try {
    if (entry.isSymbolicLink() && !hasFile(await realpath(folder), await realpath(file))) return [];
    return [[relative(folder, file).replaceAll(sep, "/"), await readWritten(file)]];
  } catch (error) {
    // An editor may replace a file at this moment; it is reported again once it is there.
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EISDIR") return [];
    throw new PolicyError(`the file \`${file}\` cannot be read: ${code ?? "unknown error"}`, { file });
  }
}

/** Reads a file. A program that saves one may empty it first, so that an empty file is read again for a moment. */
async function readWritten(file: string): Promise<Uint8Array> {
  for (let again = MOST_READS; again > 1; again -= 1) {
    const content = await readFile(file);
    if (content.length > 0) return content;
    await sleep(WRITE_MS);
  }
  return readFile(file);
}

/** The most reads of an empty file. */
const MOST_READS = 6;

/** The milliseconds between them. */
const WRITE_MS = 20;
