// Reads the values of an evidence, which is bytes that a host wrote when it decided.
//
// Trusts no byte: each step takes one or more of them, and what is not as written ends the reading with `UNREADABLE`.
// The mirror of `crates/native/src/fast/values.rs`.

/** A path that ends before its last step. */
export const BROKEN_PATH: unique symbol = Symbol("a path that ends before its last step");

/** Thrown for bytes that are no evidence. */
export const UNREADABLE = new Error("expected an evidence, found other bytes");

/** A reader of values. A missing value is `undefined`, and objects have no prototype. */
export class ValueReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  /** Throws if there are more bytes. */
  mustEnd(): void {
    if (this.#at !== this.#bytes.length) throw UNREADABLE;
  }

  byte(): number {
    return this.#bytes[this.#skip(1)]!;
  }

  short(): number {
    return this.#view.getUint16(this.#skip(2), true);
  }

  number(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  take(count: number): Uint8Array {
    const at = this.#skip(count);
    return this.#bytes.subarray(at, at + count);
  }

  /** Reads the value of a slot. */
  value(): unknown {
    const kind = this.byte();
    return kind === BROKEN ? BROKEN_PATH : this.#value(kind, MAX_DEPTH);
  }

  /** Reads a text with its kind. */
  text(): string {
    if (this.byte() !== TEXT) throw UNREADABLE;
    return this.restOfText();
  }

  /** Reads a text whose kind was read. */
  restOfText(): string {
    const bytes = this.take(this.number());
    try {
      return decoder.decode(bytes);
    } catch {
      throw UNREADABLE;
    }
  }

  /** Reads a list of texts, of which those that are missing are `undefined`. */
  texts(): (string | undefined)[] {
    if (this.byte() !== LIST) throw UNREADABLE;
    const texts: (string | undefined)[] = [];
    for (let kind = this.byte(); kind !== END; kind = this.byte()) {
      if (kind !== TEXT && kind !== MISSING) throw UNREADABLE;
      texts.push(kind === TEXT ? this.restOfText() : undefined);
    }
    return texts;
  }

  /** Reads an object with its kind. */
  map(): Record<string, unknown> {
    if (this.byte() !== MAP) throw UNREADABLE;
    return this.#map(MAX_DEPTH);
  }

  #value(kind: number, depth: number): unknown {
    switch (kind) {
      case MISSING:
        return undefined;
      case NULL:
        return null;
      case BOOL:
        return this.#truth();
      case NUMBER:
        return this.#view.getFloat64(this.#skip(8), true);
      case TEXT:
        return this.restOfText();
      case JSON_TEXT:
        return parsed(this.restOfText());
      case LIST:
        return this.#list(depth - 1);
      case MAP:
        return this.#map(depth - 1);
      default:
        throw UNREADABLE;
    }
  }

  #truth(): boolean {
    const byte = this.byte();
    if (byte > 1) throw UNREADABLE;
    return byte === 1;
  }

  #list(depth: number): unknown[] {
    if (depth < 0) throw UNREADABLE;
    const list: unknown[] = [];
    // A list has no gaps: a missing element is null, as in a request.
    for (let kind = this.byte(); kind !== END; kind = this.byte()) list.push(kind === MISSING ? null : this.#value(kind, depth));
    return list;
  }

  #map(depth: number): Record<string, unknown> {
    if (depth < 0) throw UNREADABLE;
    const map = Object.create(null) as Record<string, unknown>;
    for (let kind = this.byte(); kind !== END; kind = this.byte()) {
      if (kind !== TEXT) throw UNREADABLE;
      const name = this.restOfText();
      const value = this.#value(this.byte(), depth);
      if (value !== undefined) map[name] = value;
    }
    return map;
  }

  /** Returns the position, and passes over so many bytes. */
  #skip(count: number): number {
    const at = this.#at;
    if (count > this.#bytes.length - at) throw UNREADABLE;
    this.#at = at + count;
    return at;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw UNREADABLE;
  }
}

/** The kinds of values; `docs/DECISION-LOG.md` lists them. */
export const BROKEN = 0;
export const MISSING = 1;
export const NULL = 2;
export const BOOL = 3;
export const NUMBER = 4;
export const TEXT = 5;
export const JSON_TEXT = 6;
export const LIST = 7;
export const MAP = 8;
/** The end of a list or an object. */
export const END = 9;

/** The lists and objects in one another, as in `crates/engine/src/limits.rs`. */
const MAX_DEPTH = 64;
// A text may begin with U+FEFF, which a decoder would take for a mark.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
