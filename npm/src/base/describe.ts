// Checks the kinds of values that come from JavaScript without type checks.

import type { Address, ByteStream, FetchResponse } from "./web.ts";

/** Returns the word for the kind of a value in a message. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Returns the word for the kind of a value, or the class name of a built-in object. */
export function describeClass(value: unknown): string {
  const kind = describe(value);
  if (kind !== "object") return kind;
  const tag = Object.prototype.toString.call(value).slice(8, -1);
  return tag === "Object" ? kind : tag;
}

/** Returns the own members of an object that is not a list; inherited members are left out. */
export function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return new Map(Object.entries(value));
}

/** Returns a view of the bytes of a caller, without a copy. */
export function bytesOf(value: unknown): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined;
}

/** Returns a view of bytes, or throws an error that names the value `what`. */
export function mustBeBytes(value: unknown, what: string): Uint8Array {
  const bytes = bytesOf(value);
  if (bytes === undefined) {
    throw new TypeError(`${what} must be a Uint8Array or an ArrayBuffer, found ${describe(value)}`);
  }
  return bytes;
}

/** Returns a copy of bytes. `slice` of a `Buffer` would return a view. */
export function copyOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

export function isAddress(value: unknown): value is Address {
  return value instanceof URL;
}

/** Returns true for a response, also for one of another implementation than the global class. */
export function isResponse(value: unknown): value is FetchResponse {
  return has(value, "arrayBuffer", "function") && has(value, "ok", "boolean") && has(value, "headers", "object");
}

export function isStream(value: unknown): value is ByteStream {
  return has(value, "getReader", "function");
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return has(value, "then", "function");
}

export function isModule(value: unknown): value is WebAssembly.Module {
  return value instanceof WebAssembly.Module;
}

function has(value: unknown, member: string, kind: string): boolean {
  return typeof value === "object" && value !== null && typeof (value as Members)[member] === kind;
}

interface Members {
  readonly [name: string]: unknown;
}
