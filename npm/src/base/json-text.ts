// Writes values as JSON for a module, and refuses values that JSON would silently change.
//
// A `Date` becomes its ISO text and a `Map` an object, as in the attributes of a request. `toJSON`
// is never called.

import { describe, describeClass } from "./describe.ts";

/** Returns the JSON text of an object; `name` stands for it in messages. */
export function jsonOf(value: unknown, name: string): string {
  const kind = describeClass(value);
  if (kind !== "object" && kind !== "Map") throw new TypeError(`${name} must be an object, found ${kind}`);
  return new Writer().written(value, name, 0);
}

class Writer {
  // A few objects that share each other can unfold into an endless tree.
  #values = 0;

  written(value: unknown, path: string, depth: number): string {
    this.#values += 1;
    if (this.#values > MAX_VALUES) throw new RangeError(`${path} comes after ${MAX_VALUES} values, which is the most`);
    switch (typeof value) {
      case "boolean":
        return String(value);
      case "string":
        return text(value, path);
      case "number":
        if (!Number.isFinite(value)) throw new RangeError(`${path} must be a finite number, found ${value}`);
        return JSON.stringify(value);
      case "object":
        return value === null ? "null" : this.#composed(value, path, depth + 1);
      default:
        throw new TypeError(`${path} must be a value of JSON, found ${describe(value)}`);
    }
  }

  #composed(value: object, path: string, depth: number): string {
    // An object that contains itself ends here too.
    if (depth > MAX_DEPTH) throw new RangeError(`${path} is nested more than ${MAX_DEPTH} levels deep`);
    if (Array.isArray(value)) {
      const items = Array.from(value, (item: unknown, at) => this.written(item, `${path}[${at}]`, depth));
      return `[${items.join(",")}]`;
    }
    switch (describeClass(value)) {
      case "Date":
        return date(value as Date, path);
      case "Map":
        return this.#members(value as ReadonlyMap<unknown, unknown>, path, depth);
      case "object":
        return this.#members(Object.entries(value), path, depth);
      default:
        throw new TypeError(`${path} must be a value of JSON, found ${describeClass(value)}`);
    }
  }

  #members(entries: Iterable<readonly [unknown, unknown]>, path: string, depth: number): string {
    const members = Array.from(entries, ([name, value]) => {
      if (typeof name !== "string") throw new TypeError(`a name in ${path} must be a string, found ${describe(name)}`);
      return `${text(name, path)}:${this.written(value, `${path}.${name}`, depth)}`;
    });
    return `{${members.join(",")}}`;
  }
}

function text(text: string, path: string): string {
  if (/\p{Surrogate}/u.test(text)) throw new RangeError(`${path} holds text that is not Unicode`);
  return JSON.stringify(text);
}

function date(date: Date, path: string): string {
  if (Number.isNaN(date.getTime())) throw new RangeError(`${path} must be a time, found an invalid date`);
  return JSON.stringify(date.toISOString());
}

/** The limits of the attributes of a request. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 64;
