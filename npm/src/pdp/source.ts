// Reads the bytes of a bundle from a source of the caller, and stops at the size limit.

import { loader } from "#load";

import { bytesOf, copyOf, describe, describeClass, isAddress, isPromise, isResponse, isStream } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { awaitFetched, awaitResponse, mustBeOk, mustNotBePage, reason, addressForMessage } from "../base/responses.ts";
import { adviceOf, mustNotBeText } from "./bundle-bytes.ts";
import type { Bundle, BundleSource } from "./types.ts";
import type { ByteReader, ByteStream, FetchResponse } from "../base/web.ts";

/** A source of a bundle, or a promise of its bytes, such as that of `readFile`. */
export type BundleArrival = BundleSource | PromiseLike<Bundle>;

/** Returns the bytes of a bundle: a copy of present bytes, or the bytes that arrive. */
export async function readBundle(source: BundleArrival, maxBytes: number): Promise<Uint8Array> {
  return mustNotBeText(await readBytes(source, maxBytes));
}

async function readBytes(source: BundleArrival, maxBytes: number): Promise<Uint8Array> {
  const bytes = bytesOf(source);
  if (bytes !== undefined) return copyOf(bytes);
  if (isAddress(source)) return fromAddress(source.href, source.protocol, maxBytes);
  if (isResponse(source)) return readResponse(source, "the response", maxBytes);
  if (isStream(source)) return fromStream(source, "the stream", maxBytes);
  if (isPromise(source)) return fromPromise(source, maxBytes);
  throw new TypeError(`a bundle must be ${KINDS}, found ${describeClass(source)}${adviceOf(source)}`);
}

async function fromPromise(source: PromiseLike<unknown>, maxBytes: number): Promise<Uint8Array> {
  const arrived = await awaitFetched(source, "the bundle");
  const bytes = bytesOf(arrived);
  if (bytes !== undefined) return copyOf(bytes);
  if (isResponse(arrived)) return readResponse(arrived, "the response", maxBytes);
  throw new TypeError(`a promise must be of bytes or a Response, found one of ${describeClass(arrived)}${adviceOf(arrived)}`);
}

async function fromAddress(href: string, protocol: string, maxBytes: number): Promise<Uint8Array> {
  const name = addressForMessage(href);
  const file = protocol === "file:" ? loader.openFile(href) : undefined;
  if (file !== undefined) return fromStream(file, name, maxBytes);
  return readResponse(await awaitResponse(fetch(href), name), name, maxBytes);
}

/** Returns the body of a response; `name` stands for it in messages. */
export async function readResponse(response: FetchResponse, name: string, maxBytes: number): Promise<Uint8Array> {
  if (response.bodyUsed) throw new TypeError(`the body of ${name} has been read before`);
  mustBeOk(response, name);
  mustNotBePage(response, name, "not-a-bundle");
  if (response.body === null) throw empty(name);
  return fromStream(response.body, name, maxBytes);
}

async function fromStream(stream: ByteStream, name: string, maxBytes: number): Promise<Uint8Array> {
  if (stream.locked) throw new TypeError(`${name} is locked by another reader`);
  const reader = stream.getReader();
  try {
    return await pieces(reader, name, maxBytes);
  } catch (error) {
    // The sender should stop. An error of `cancel` changes nothing.
    reader.cancel(error).catch(() => {});
    throw error;
  }
}

async function pieces(reader: ByteReader, name: string, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  let silent = 0;
  for (;;) {
    const piece = await next(reader, name, length);
    if (piece === undefined) {
      if (length === 0) throw empty(name);
      return joined(pieces, length);
    }
    length += piece.length;
    silent += piece.length === 0 ? 1 : 0;
    if (length > maxBytes) throw new WardgateError("too-large", `${name} has more than ${maxBytes} bytes`);
    if (silent > MAX_SILENT) throw new WardgateError("not-fetched", `${name} sends no bytes and does not end`);
    pieces.push(piece);
  }
}

async function next(reader: ByteReader, name: string, length: number): Promise<Uint8Array | undefined> {
  let step;
  try {
    step = await reader.read();
  } catch (cause) {
    const what = length === 0 ? `cannot read ${name}` : `${name} broke off after ${length} bytes`;
    const message = `${what}: ${reason(cause)}`;
    throw new WardgateError("not-fetched", message, { cause });
  }
  if (step.done) return undefined;
  const piece = bytesOf(step.value);
  if (piece === undefined) throw new TypeError(`${name} must be of bytes, found ${describe(step.value)}`);
  return piece;
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function empty(name: string): WardgateError {
  return new WardgateError("not-a-bundle", `${name} is empty`);
}

const KINDS = "a Uint8Array, an ArrayBuffer, a Response, a promise of one of these, a URL or a stream of bytes";
/** The largest number of empty chunks in a stream. */
const MAX_SILENT = 10_000;
