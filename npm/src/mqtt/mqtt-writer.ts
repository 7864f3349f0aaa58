// Writes the fields of a packet. The module checks the packet as a whole afterwards: here, a value
// must only have a form in the bytes.

import { bytesOf, describe } from "../base/describe.ts";
import { isWellFormed } from "../base/text.ts";

/** The buffer of the module that a packet is written into. */
export interface WriteBuffer {
  /** Returns a buffer of at least that many bytes, with the bytes that were written so far. */
  grow(written: number, least: number): Uint8Array;
}

export class PacketWriter {
  /** The offset of the next byte. */
  at = HEADER_BYTES;
  readonly #buffer: WriteBuffer;
  #bytes: Uint8Array;

  constructor(buffer: WriteBuffer, bytes: Uint8Array) {
    this.#buffer = buffer;
    this.#bytes = bytes;
  }

  byte(value: unknown, name: string): void {
    this.#room(1);
    this.#bytes[this.at++] = whole(value, name, 0xff);
  }

  two(value: unknown, name: string): void {
    const number = whole(value, name, 0xffff);
    this.#room(2);
    this.#two(this.at, number);
    this.at += 2;
  }

  four(value: unknown, name: string): void {
    const number = whole(value, name, 0xffff_ffff);
    this.#room(4);
    this.#two(this.at, number >>> 16);
    this.#two(this.at + 2, number & 0xffff);
    this.at += 4;
  }

  /** Writes a number of variable length. */
  number(value: unknown, name: string): void {
    const number = whole(value, name, MOST_BYTES);
    this.#room(4);
    this.at += putNumber(this.#bytes, this.at, number);
  }

  text(value: unknown, name: string): void {
    if (typeof value !== "string") throw new TypeError(`\`${name}\` must be a string, found ${describe(value)}`);
    const start = this.at + 2;
    const length = this.#utf8(value, name, start);
    if (length > 0xffff) throw new RangeError(`\`${name}\` must have at most 65535 bytes, found ${length}`);
    this.#two(this.at, length);
    this.at = start + length;
  }

  /** Writes bytes with their length before them. */
  binary(value: unknown, name: string): void {
    const start = this.at;
    this.#room(2);
    this.at += 2;
    this.bytes(value, name);
    const length = this.at - start - 2;
    if (length > 0xffff) throw new RangeError(`\`${name}\` must have at most 65535 bytes, found ${length}`);
    this.#two(start, length);
  }

  bytes(value: unknown, name: string): void {
    if (typeof value === "string") {
      this.at += this.#utf8(value, name, this.at);
      return;
    }
    const bytes = bytesOf(value);
    if (bytes === undefined) throw new TypeError(`\`${name}\` must be bytes or a string, found ${describe(value)}`);
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /** Writes the length of all since `start` before it, as a number of variable length. */
  lengthAt(start: number): void {
    const length = this.at - start;
    const width = widthOf(length);
    this.#room(width);
    this.#bytes.copyWithin(start + width, start, this.at);
    putNumber(this.#bytes, start, length);
    this.at += width;
  }

  /** Writes the fixed header before all, and returns the offset of its first byte. */
  header(first: number): number {
    const length = this.at - HEADER_BYTES;
    if (length > MOST_BYTES) throw new RangeError(`the packet has ${length} bytes, more than MQTT allows`);
    const start = HEADER_BYTES - 1 - widthOf(length);
    this.#bytes[start] = first;
    putNumber(this.#bytes, start + 1, length);
    return start;
  }

  flag(value: unknown, name: string): boolean {
    if (typeof value === "boolean") return value;
    throw new TypeError(`\`${name}\` must be true or false, found ${describe(value)}`);
  }

  list(value: unknown, name: string): readonly unknown[] {
    if (Array.isArray(value)) return value as readonly unknown[];
    throw new TypeError(`\`${name}\` must be an array, found ${describe(value)}`);
  }

  /** Writes UTF-8 at an offset, and returns its length. */
  #utf8(text: string, name: string, start: number): number {
    // A code unit takes at most three bytes.
    this.#room(start - this.at + text.length * 3);
    const { written } = encoder.encodeInto(text, this.#bytes.subarray(start));
    // Half of a surrogate pair has no encoding, and its replacement would be another text.
    if (written !== text.length && !isWellFormed(text)) throw new RangeError(`\`${name}\` must be Unicode`);
    return written;
  }

  #two(at: number, number: number): void {
    this.#bytes[at] = number >>> 8;
    this.#bytes[at + 1] = number & 0xff;
  }

  /** Makes sure that there is room for that many bytes. */
  #room(bytes: number): void {
    const least = this.at + bytes;
    if (least > this.#bytes.length) this.#bytes = this.#buffer.grow(this.at, least);
  }
}

/** Returns a whole number from 0 to `most`. */
export function whole(value: unknown, name: string, most: number): number {
  if (typeof value !== "number") throw new TypeError(`\`${name}\` must be a number, found ${describe(value)}`);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new RangeError(`\`${name}\` must be a whole number from 0 to ${most}, found ${value}`);
}

function putNumber(bytes: Uint8Array, start: number, number: number): number {
  let at = start;
  let rest = number;
  for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
  bytes[at++] = rest;
  return at - start;
}

function widthOf(number: number): number {
  if (number < 2 ** 7) return 1;
  if (number < 2 ** 14) return 2;
  return number < 2 ** 21 ? 3 : 4;
}

/** The most bytes of a fixed header. */
const HEADER_BYTES = 5;
/** The most bytes behind a fixed header. */
const MOST_BYTES = 2 ** 28 - 1;
const encoder = new TextEncoder();
