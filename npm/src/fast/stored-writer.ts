// Writes the values of an evidence. The mirror of `crates/native/src/fast/values.rs`.

import { isWellFormed } from "../base/text.ts";
import { BOOL, END, LIST, MAP, MISSING, NULL, NUMBER, TEXT } from "./stored-values.ts";

/**
 * A writer of values into memory of a fixed size. Methods that return a truth return false, and leave unfinished bytes, where there is no
 * room or a value is none that a request may have.
 */
export class ValueWriter {
  /** The position behind what was written. */
  at = 0;
  /** True if something found no room. */
  isFull = false;
  readonly bytes: Uint8Array;
  readonly #view: DataView;
  readonly #isCanonical: boolean;

  /** Makes a writer. With `isCanonical` the members of objects are in the order of their names, as the bytes of UTF-8 have it. */
  constructor(bytes: Uint8Array, isCanonical = false) {
    this.bytes = bytes;
    this.#isCanonical = isCanonical;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  byte(byte: number): boolean {
    if (!this.#hasRoom(1)) return false;
    this.bytes[this.at] = byte;
    this.at += 1;
    return true;
  }

  short(number: number): boolean {
    return this.byte(number & 0xff) && this.byte(number >>> 8);
  }

  number(number: number): boolean {
    if (!this.#hasRoom(4)) return false;
    this.#view.setUint32(this.at, number, true);
    this.at += 4;
    return true;
  }

  raw(bytes: Uint8Array): boolean {
    if (!this.#hasRoom(bytes.length)) return false;
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
    return true;
  }

  double(number: number): boolean {
    if (!Number.isFinite(number) || !this.byte(NUMBER) || !this.#hasRoom(8)) return false;
    this.#view.setFloat64(this.at, number, true);
    this.at += 8;
    return true;
  }

  /** Writes a text with its kind. */
  text(text: unknown): boolean {
    if (typeof text !== "string" || !isWellFormed(text) || !this.byte(TEXT) || !this.number(0)) return false;
    const { read, written } = encoder.encodeInto(text, this.bytes.subarray(this.at));
    if (read < text.length) {
      this.isFull = true;
      return false;
    }
    this.#view.setUint32(this.at - 4, written, true);
    this.at += written;
    return true;
  }

  /** Writes a list of texts. */
  texts(texts: readonly unknown[]): boolean {
    if (!this.byte(LIST)) return false;
    for (let at = 0; at < texts.length; at += 1) if (!this.text(texts[at])) return false;
    return this.byte(END);
  }

  /** Writes the attributes of a request, or none. */
  map(map: unknown, depth = MAX_DEPTH): boolean {
    if (depth === 0 || !this.byte(MAP)) return false;
    const members = this.#isCanonical ? Array.from(membersOf(map)).sort(([one], [other]) => inUtf8(String(one), String(other))) : membersOf(map);
    for (const [name, value] of members) if (value !== undefined && !(this.text(name) && this.value(value, depth - 1))) return false;
    return this.byte(END);
  }

  /** Writes a value of a request. */
  value(value: unknown, depth = MAX_DEPTH): boolean {
    switch (typeof value) {
      case "undefined":
        return this.byte(MISSING);
      case "boolean":
        return this.byte(BOOL) && this.byte(+value);
      case "number":
        return this.double(value);
      case "string":
        return this.text(value);
      case "object":
        if (value === null) return this.byte(NULL);
        if (Array.isArray(value)) return this.#list(value, depth);
        if (value instanceof Set) return this.#list(Array.from(value), depth);
        if (value instanceof Date) return this.text(value.toJSON());
        return isMap(value) && this.map(value, depth);
      default:
        return false;
    }
  }

  #hasRoom(bytes: number): boolean {
    const hasRoom = this.at + bytes <= this.bytes.length;
    this.isFull ||= !hasRoom;
    return hasRoom;
  }

  #list(list: readonly unknown[], depth: number): boolean {
    if (depth === 0 || !this.byte(LIST)) return false;
    for (let at = 0; at < list.length; at += 1) if (!this.value(list[at], depth - 1)) return false;
    return this.byte(END);
  }
}

function isMap(value: object): boolean {
  return value instanceof Map || Object.prototype.toString.call(value) === "[object Object]";
}

/** Returns the members of attributes, as the general path reads them. */
function membersOf(map: unknown): Iterable<readonly [name: unknown, value: unknown]> {
  if (map instanceof Map) return map as ReadonlyMap<unknown, unknown>;
  return map === undefined ? [] : Object.entries(map as object);
}

/** Compares texts by their bytes in UTF-8: the code units above surrogates come before pairs of those. */
function inUtf8(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  for (let at = 0; at < most; at += 1) {
    const [unit, beside] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (unit !== beside) return rankOf(unit) - rankOf(beside);
  }
  return one.length - other.length;
}

function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** The lists and objects in one another, as in `crates/engine/src/limits.rs`. */
const MAX_DEPTH = 64;
const encoder = new TextEncoder();
