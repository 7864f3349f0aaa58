// Says how a bundle is given, where a caller gives something else.

import { bytesOf, copyOf, describeClass, isAddress, isPromise, isResponse, isStream } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";

/**
 * Returns a copy of a bundle that is at hand.
 *
 * @throws TypeError if it is of another kind than bytes, and WardgateError with the code `not-a-bundle`
 * if it is text.
 */
export function presentBundle(given: unknown): Uint8Array {
  const bytes = bytesOf(given);
  if (bytes !== undefined) return mustNotBeText(copyOf(bytes));
  const isSource = isAddress(given) || isResponse(given) || isStream(given);
  const advice = isPromise(given) ? "; await it first" : isSource ? "; read its bytes first" : adviceOf(given, "`readFileSync(PATH)` in Node");
  throw new TypeError(`a bundle must be a Uint8Array or an ArrayBuffer, found ${describeClass(given)}${advice}`);
}

/** Returns the end of a message about something that is no source of a bundle: the line to write instead. */
export function adviceOf(given: unknown, ofPath = OF_PATH): string {
  if (typeof given === "string") return adviceOfText(given, ofPath);
  if (/^(Blob|File)$/.test(describeClass(given))) return "; write `await blob.arrayBuffer()`";
  if (ArrayBuffer.isView(given)) return "; write `new Uint8Array(view.buffer, view.byteOffset, view.byteLength)`";
  const isNodeStream = typeof given === "object" && given !== null && "pipe" in given;
  return isNodeStream ? "; write `Readable.toWeb(stream)`" : "";
}

/** A relative path would mean another place in each runtime: a folder, a module or a page. */
function adviceOfText(text: string, ofPath: string): string {
  if (/^\s*$/.test(text)) return "";
  if (text.startsWith(MAGIC)) return " of its content; read the file as bytes, without an encoding";
  if (text.includes("\n")) return " of several lines; `wardgate compile` makes bundles of policies";
  if (/^[a-z][a-z\d+.-]+:/i.test(text)) return "; an address is written `new URL(address)`";
  const path = text.length > MAX_SPELLED ? "path" : JSON.stringify(text);
  return `; a path is written ${ofPath.replaceAll("PATH", () => path)}`;
}

/** Refuses bytes that are a text, such as a policy that is not compiled, and shows how it begins. */
export function mustNotBeText(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) throw new WardgateError("not-a-bundle", "the bundle is empty");
  const start = String.fromCharCode(...bytes.subarray(0, START));
  if (start.startsWith(MAGIC) || !/^[\t\n\r -~]+$/.test(start)) return bytes;
  const found = `they begin with ${JSON.stringify(start)}`;
  throw new WardgateError("not-a-bundle", `these bytes are not a bundle, ${found}; \`wardgate compile\` makes bundles of policies`);
}

/** The lines for a path, for a caller that may wait. */
const OF_PATH = "`await readFile(PATH)` in Node, or `new URL(PATH, import.meta.url)` beside the program";
/** The first bytes of every bundle: see `docs/BUNDLE.md`. */
const MAGIC = "WARDGATE";
/** The number of bytes that a message shows. */
const START = 16;
const MAX_SPELLED = 80;
