// Writes the values of requests into a buffer: the mirror of `crates/wasm/src/reader.rs`.
//
// The types of JSON are written, with three additions: a `Date` becomes its ISO text, a `Map` with
// string keys an object and a `Set` a list, in the order of its elements. Any other value is an error that names its path, because an
// attribute that silently changed its type would cause a wrong decision. `toJSON` is never called.
//
// Every member is read once, in one order, since reading may run code of the caller (a getter, a
// proxy). A method that fails notes the reason and returns false; each caller adds its part of the
// path on the way out, so only an error builds a path.

/** The first byte of a value. */
const NULL = 0;
const FALSE = 1;
const TRUE = 2;
const NUMBER = 3;
const TEXT = 4;
const LIST = 5;
const MAP = 6;

/** A reason to refuse a request, and the path of the value in it from the inside out. */
interface Refusal {
  readonly kind: typeof TypeError | typeof RangeError;
  readonly words: (path: string) => string;
  readonly path: (string | number)[];
}

/** A writer of one request, which enforces the bounds of `crates/engine/src/limits.rs`. */
export class RequestWriter {
  bytes = new Uint8Array(FIRST_BYTES);
  /** The number of bytes that are written. */
  length = 0;
  #valuesLeft = MAX_VALUES;
  #textLeft = MAX_BYTES;
  #refusal: Refusal | undefined;

  /** Begins another request. */
  reset(): void {
    this.length = 0;
    this.#valuesLeft = MAX_VALUES;
    this.#textLeft = MAX_BYTES;
    this.#refusal = undefined;
    // A large request must not occupy its memory for ever.
    if (this.bytes.length > MAX_KEPT_BYTES) this.bytes = new Uint8Array(FIRST_BYTES);
  }

  /** The number of values read so far. */
  get values(): number {
    return MAX_VALUES - Math.max(0, this.#valuesLeft);
  }

  /** Returns the error of the method that returned false. */
  error(): Error {
    const { kind: Kind, words, path } = this.#refusal!;
    return new Kind(words(written(path.reverse())));
  }

  /** Adds a segment to the path of the refused value. */
  inside(segment: string | number): false {
    this.#refusal!.path.push(segment);
    return false;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.bytes[this.length++] = value;
  }

  /** Writes a string, which counts as a value. */
  string(value: unknown): boolean {
    if (typeof value !== "string") return this.wrong("a string", value);
    return this.#take() && this.#text(value);
  }

  /** Writes an optional string; an absent one is empty. */
  optionalString(value: unknown): boolean {
    if (value !== undefined) return this.string(value);
    this.#word(0);
    return true;
  }

  /** Writes a list of strings, and adds them to `copies` if there are any. */
  strings(list: unknown, copies?: string[]): boolean {
    if (!Array.isArray(list)) return this.wrong("an array of strings", list);
    const length = this.#elements(list);
    if (length === undefined) return false;
    this.#word(length);
    for (let index = 0; index < length; index += 1) {
      const item: unknown = list[index];
      if (!this.string(item)) return this.inside(index);
      copies?.push(item as string);
    }
    return true;
  }

  /**
   * Writes an object of attributes; `undefined` is the empty one. If `names` are given, the members
   * of other names are left out.
   */
  attributes(value: unknown, names: readonly string[] | null): boolean {
    if (value === undefined) {
      this.#word(0);
      return true;
    }
    switch (tagOf(value)) {
      case OBJECT:
        return names === null ? this.#object(value as Members, MAX_DEPTH) : this.#chosen(value as Members, names);
      case "[object Map]":
        return this.#map(value as object, MAX_DEPTH, names);
      default:
        return this.wrong("an object", value);
    }
  }

  /** Writes the number of the elements that follow. */
  count(elements: number): void {
    this.#word(elements);
  }

  /** Counts the bytes of a name that is not written; false if they are too many. */
  name(bytes: number): boolean {
    this.#textLeft -= bytes;
    return this.#textLeft >= 0 || this.#tooLong();
  }

  /** Refuses the name of a member. */
  unknown(name: string, known: readonly string[]): false {
    if (!this.#text(name)) return false;
    const expected = known.join(", ");
    return this.refuse(TypeError, (path) => `unknown field \`${name}\` in ${path}, expected one of ${expected}`);
  }

  /** Refuses a value of the wrong kind. */
  wrong(expected: string, found: unknown): false {
    const word = wordFor(found);
    return this.refuse(TypeError, (path) => `${path} must be ${expected}, found ${word}`);
  }

  refuse(kind: Refusal["kind"], words: (path: string) => string): false {
    this.#refusal = { kind, words, path: [] };
    return false;
  }

  #value(value: unknown, depth: number): boolean {
    if (!this.#take()) return false;
    switch (typeof value) {
      case "string":
        this.byte(TEXT);
        return this.#text(value);
      case "number":
        return Number.isFinite(value) ? this.#number(value) : this.wrong("a finite number", value);
      case "boolean":
        this.byte(value ? TRUE : FALSE);
        return true;
      case "object":
        return this.#structure(value, depth);
      default:
        return this.wrong("a JSON value", value);
    }
  }

  #structure(value: object | null, depth: number): boolean {
    if (value === null) {
      this.byte(NULL);
      return true;
    }
    if (Array.isArray(value)) {
      this.byte(LIST);
      return depth > 1 ? this.#list(value, depth - 1) : this.#tooDeep();
    }
    switch (tagOf(value)) {
      case OBJECT:
        this.byte(MAP);
        return depth > 1 ? this.#object(value as Members, depth - 1) : this.#tooDeep();
      case "[object Map]":
        this.byte(MAP);
        return depth > 1 ? this.#map(value, depth - 1, null) : this.#tooDeep();
      case "[object Set]":
        this.byte(LIST);
        return depth > 1 ? this.#list(Array.from(values.call(value)), depth - 1) : this.#tooDeep();
      case "[object Date]":
        return this.#date(value as Date);
      default:
        return this.wrong("a JSON value", value);
    }
  }

  #list(list: readonly unknown[], depth: number): boolean {
    const length = this.#elements(list);
    if (length === undefined) return false;
    this.#word(length);
    for (let index = 0; index < length; index += 1) {
      if (!this.#value(list[index], depth)) return this.inside(index);
    }
    return true;
  }

  #object(value: Members, depth: number): boolean {
    const start = this.#open();
    let count = 0;
    for (const name of Object.keys(value)) {
      const at = this.length;
      if (!this.#text(name)) return false;
      const member = value[name];
      if (member === undefined) this.length = at;
      else if (this.#value(member, depth)) count += 1;
      else return this.inside(name);
    }
    this.#close(start, count);
    return true;
  }

  /** Writes the members of these names. */
  #chosen(value: Members, names: readonly string[]): boolean {
    const start = this.#open();
    let count = 0;
    const keys = Object.keys(value);
    for (const name of names) {
      if (!keys.includes(name)) continue;
      const member = value[name];
      if (member === undefined) continue;
      if (!this.#text(name)) return false;
      if (!this.#value(member, MAX_DEPTH)) return this.inside(name);
      count += 1;
    }
    this.#close(start, count);
    return true;
  }

  #map(map: object, depth: number, names: readonly string[] | null): boolean {
    const start = this.#open();
    let count = 0;
    const pairs = Array.from(map as Iterable<object>);
    for (const pair of pairs) {
      const [name, member] = [Reflect.get(pair, 0), Reflect.get(pair, 1)] as [unknown, unknown];
      if (typeof name !== "string") {
        const word = wordFor(name);
        return this.refuse(TypeError, (path) => `keys of ${path} must be strings, found ${word}`);
      }
      const at = this.length;
      if (!this.#text(name)) return false;
      if (member === undefined || (names !== null && !names.includes(name))) this.length = at;
      else if (this.#value(member, depth)) count += 1;
      else return this.inside(name);
    }
    this.#close(start, count);
    return true;
  }

  #date(value: Date): boolean {
    if (Number.isNaN(Date.prototype.getTime.call(value))) {
      return this.refuse(TypeError, (path) => `${path} must be a point in time, found an invalid Date`);
    }
    this.byte(TEXT);
    return this.#text(Date.prototype.toISOString.call(value));
  }

  /**
   * Returns the number of elements of a list of the caller. A proxy of an array is an array too,
   * and may report any length.
   */
  #elements(list: readonly unknown[]): number | undefined {
    const length = list.length as unknown;
    if (length !== undefined && length !== null) return (length as number) >>> 0;
    this.refuse(TypeError, (path) => `${path} must be an array, found one without length`);
    return undefined;
  }

  #number(value: number): true {
    this.#reserve(9);
    const { bytes } = this;
    bytes[this.length] = NUMBER;
    double[0] = value;
    for (let at = 0; at < 8; at += 1) bytes[this.length + 1 + at] = doubleBytes[at]!;
    this.length += 9;
    return true;
  }

  /** Writes the length of a text in bytes, and the text in UTF-8. */
  #text(text: string): boolean {
    const { length } = text;
    // A string has at least as many bytes as UTF-16 units, so it is refused before it is copied.
    if (length > this.#textLeft) return this.#tooLong();
    if (length > MAX_LOOPED) return this.#encoded(text);
    this.#reserve(4 + length);
    const { bytes } = this;
    const start = this.length + 4;
    for (let at = 0; at < length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit > 0x7f) return this.#encoded(text);
      bytes[start + at] = unit;
    }
    this.#word(length);
    this.length = start + length;
    this.#textLeft -= length;
    return true;
  }

  /** Writes a text that is long or not ASCII. */
  #encoded(text: string): boolean {
    const content = encoder.encode(text);
    // The encoder replaces half a surrogate pair by U+FFFD, which would make two different strings
    // equal.
    if (content.length !== text.length && HALF_A_PAIR.test(text)) {
      return this.refuse(TypeError, (path) => `${path} must be well-formed text, found half a surrogate pair`);
    }
    if (content.length > this.#textLeft) return this.#tooLong();
    this.#reserve(4 + content.length);
    this.#word(content.length);
    this.bytes.set(content, this.length);
    this.length += content.length;
    this.#textLeft -= content.length;
    return true;
  }

  /** Writes a place for a count, and returns its offset. */
  #open(): number {
    this.#word(0);
    return this.length - 4;
  }

  #close(start: number, count: number): void {
    const { length } = this;
    this.length = start;
    this.#word(count);
    this.length = length;
  }

  #word(value: number): void {
    this.#reserve(4);
    const { bytes, length } = this;
    bytes[length] = value;
    bytes[length + 1] = value >>> 8;
    bytes[length + 2] = value >>> 16;
    bytes[length + 3] = value >>> 24;
    this.length = length + 4;
  }

  #reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.length + count));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  #take(): boolean {
    if (this.#valuesLeft === 0) {
      return this.refuse(RangeError, (path) => `${path} is past the ${MAX_VALUES} values that a request may hold`);
    }
    this.#valuesLeft -= 1;
    return true;
  }

  #tooLong(): false {
    return this.refuse(RangeError, (path) => `${path} is past the ${MAX_BYTES} bytes that a request may hold`);
  }

  #tooDeep(): false {
    return this.refuse(TypeError, (path) => `${path.slice(0, SHOWN_OF_DEEP_PATH)}... nests deeper than ${MAX_DEPTH} levels, or contains itself`);
  }
}

/** An object with members of any kind. */
export interface Members {
  readonly [name: string]: unknown;
}

/** Returns the tag of an object, such as `[object Map]`. */
export function tagOf(value: unknown): string {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? tag.call(value) : "";
}

/** The code units of a path of too many levels, all of which would fill a screen. */
const SHOWN_OF_DEEP_PATH = 60;

/** The tag of an object with members. */
export const OBJECT = "[object Object]";

/** Returns the word for the kind of a value in a message. */
function wordFor(value: unknown): string {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isNaN(value) ? "NaN" : Number.isFinite(value) ? "number" : "Infinity";
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) return "array";
  const found = tagOf(value);
  return found === OBJECT ? "object" : found.replace(/^\[object /, "").replace(/\]+$/, "");
}

/** Writes a path as JavaScript would: `principal.attr["two words"][3]`. */
function written(path: readonly (string | number)[]): string {
  if (path.length === 0) return "request";
  const segment = (name: string | number, at: number): string => {
    if (typeof name === "number") return `[${name}]`;
    if (!/^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name)) return `[${quoted(name)}]`;
    return at === 0 ? name : `.${name}`;
  };
  return path.map(segment).join("");
}

/** Writes a name as the canonical JSON does. */
function quoted(name: string): string {
  const escape = (unit: string): string => ESCAPES[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return `"${name.replace(/["\\\u0000-\u001f]/g, escape)}"`;
}

const ESCAPES: { readonly [unit: string]: string | undefined } = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const { toString: tag } = Object.prototype;
const { values } = Set.prototype;
/** Matches half a surrogate pair, and no whole one. */
const HALF_A_PAIR = /\p{Surrogate}/u;
const encoder = new TextEncoder();
const double = new Float64Array(1);
const doubleBytes = new Uint8Array(double.buffer);

/** The bounds of a request. */
const MAX_VALUES = 100_000;
const MAX_BYTES = 16 << 20;
const MAX_DEPTH = 64;

/** The longest text that is written in a loop; `encode` is faster for longer ones. */
const MAX_LOOPED = 40;
const FIRST_BYTES = 8192;
const MAX_KEPT_BYTES = 65_536;
