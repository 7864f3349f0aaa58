// Lists that are searched by a hash: those of `textSet`, and the copies of a prepared principal.

import { describe } from "./describe.ts";
import { isObject } from "./plain.ts";

/** The elements of a list or set of scalars that does not change any more. */
export interface Hashed {
  /** What was hashed: members of one object may be copied to another, which may change. */
  readonly of: object;
  readonly list: readonly unknown[];
  readonly elements: ReadonlySet<unknown>;
}

/**
 * Returns a list of texts for attributes that is hashed once: the ids of groups, owned documents, ancestors. Then
 * `x in list` and `hasIntersection` compare one text instead of all. The list has each text once, in the order in
 * which they came first, and is frozen. Throws a `TypeError` for what is no iterable of strings.
 *
 * It is worth it where an entity is loaded once and decided about often. More than 1,024 texts are decided about by the
 * general path, as in any list. Copies of the list, such as `[...list]` and
 * those that another thread gets, are usual lists.
 */
export function textSet(texts: Iterable<string>): readonly string[] {
  if (typeof texts === "string" || typeof (texts as Iterable<string> | undefined)?.[Symbol.iterator] !== "function") {
    throw new TypeError(`expected an iterable of strings, found ${describe(texts)}`);
  }
  const list = [...new Set(texts)];
  for (const text of list) if (typeof text !== "string") throw new TypeError(`expected a string in a set of texts, found ${describe(text)}`);
  if (list.length <= MAX_HASHED) hash(list, list);
  return Object.freeze(list);
}

/** The most elements that a list may have to be searched on the fast path. */
export const MAX_HASHED = 1024;

/**
 * Notes that `value`, a list or a set with the elements of `list`, does not change any more. All are scalars, and at
 * most `MAX_HASHED`.
 */
export function hash(value: object, list: readonly unknown[]): void {
  const hashed: Hashed = { of: value, list, elements: new Set(list) };
  Object.defineProperty(value, HASHED, { value: hashed });
}

/** Returns the hash of a list or a set, if it has one. */
export function hashedOf(value: unknown): Hashed | undefined {
  if (!isObject(value)) return undefined;
  const hashed = (value as { readonly [HASHED]?: Hashed })[HASHED];
  return hashed !== undefined && hashed.of === value ? hashed : undefined;
}

// A member is found in less time than the key of a `WeakMap` (2 and 20 ns), and `Object.keys` and the general path do
// not see it.
const HASHED: unique symbol = Symbol("hashed");
