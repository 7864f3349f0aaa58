// Reads single options that come from JavaScript without type checks.

import { describe } from "./describe.ts";
import { expected } from "./nearest.ts";

/** Returns the members of an object of options. An unknown name is an error. */
export function knownMembers(options: object, names: readonly string[]): ReadonlyMap<string, unknown> {
  const members = new Map<string, unknown>(Object.entries(options));
  for (const name of members.keys()) {
    if (!names.includes(name)) {
      throw new TypeError(`unknown option \`${name}\`${expected(name, names)}`);
    }
  }
  return members;
}

export function readWhole(value: unknown, name: string, most: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw new TypeError(`option \`${name}\` must be a number, found ${describe(value)}`);
  if (!Number.isInteger(value) || value < 0 || value > most) {
    throw new RangeError(`option \`${name}\` must be a whole number from 0 to ${most}, found ${value}`);
  }
  return value;
}

export function readFlag(value: unknown, name: string): boolean | undefined {
  if (value === undefined || typeof value === "boolean") return value;
  throw new TypeError(`option \`${name}\` must be true or false, found ${describe(value)}`);
}

export function readText(value: unknown, name: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw new TypeError(`option \`${name}\` must be a string, found ${describe(value)}`);
  // Half of a surrogate pair has no encoding, and its replacement would be another text.
  if (/\p{Surrogate}/u.test(value)) throw new RangeError(`option \`${name}\` must be Unicode`);
  return value;
}

export function readOneOf(value: unknown, name: string, words: readonly string[]): string | undefined {
  const word = readText(value, name);
  if (word === undefined || words.includes(word)) return word;
  throw new RangeError(`option \`${name}\` must be one of ${words.join(", ")}, found \`${word}\``);
}
