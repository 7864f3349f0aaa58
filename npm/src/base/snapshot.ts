// Copies values of a caller.
//
// A prepared principal keeps its state from the moment of preparation: later changes to the objects
// of the caller change no decision. Values that the general path refuses are not copied, so that it
// refuses them.

import { hashedOf } from "./hashed.ts";

/** Returns a copy that shares no mutable part with `value`. */
export function snapshot(value: unknown): unknown {
  return copy(value, { left: MAX_VALUES }, MAX_DEPTH);
}

function copy(value: unknown, budget: { left: number }, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  budget.left -= 1;
  if (budget.left < 0) throw new RangeError(`a principal holds at most ${MAX_VALUES} values`);
  if (depth === 0 || hashedOf(value) !== undefined) return value;
  const inside = (member: unknown): unknown => copy(member, budget, depth - 1);
  // By index, as every other reader of a list does: an iterator of its own may tell other elements.
  if (Array.isArray(value)) return value.length > MAX_VALUES ? value : Array.from({ length: value.length }, (_, at) => inside(value[at]));
  if (value instanceof Set) return new Set(Array.from(value, inside));
  if (value instanceof Date) return new Date(value);
  if (value instanceof Map) return new Map(Array.from(value, ([name, member]) => [name, inside(member)]));
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? copyMembers(value, inside) : value;
}

function copyMembers(value: object, inside: (member: unknown) => unknown): object {
  // The spread makes own members of all names, even `__proto__`.
  const members: Record<string, unknown> = { ...value };
  for (const name of Object.keys(members)) {
    const member = members[name];
    if (typeof member === "object" && member !== null) members[name] = inside(member);
  }
  return members;
}

/** The limit of a request. */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 66;
