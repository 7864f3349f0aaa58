// What the evidence of a fast path tells of the values that another one reads.
//
// The mirror of `crates/native/src/decision_log/known.rs`.

import type { FastPath } from "./fast-paths.ts";
import { BROKEN_PATH } from "./stored-values.ts";
import type { WireSlot } from "./wire-paths.ts";

/** The ids of a record, where it has them as a whole. */
export interface RecordedIds {
  readonly principal: string | undefined;
  readonly resource: string | undefined;
}

/** What is known of a request. */
export interface Known extends RecordedIds {
  readonly kind: string;
  /** The slots of the fast path that decided, and their values. */
  readonly slots: readonly WireSlot[];
  readonly values: readonly unknown[];
  /** The names of the roles; `undefined` for each that the fast path did not tell from others. */
  readonly roles: readonly (string | undefined)[];
}

/** Returns true if what one fast path tells of these roles suffices for another. */
export function knowsRoles(recorded: FastPath, other: FastPath, roles: readonly (string | undefined)[]): boolean {
  return !roles.includes(undefined) || other.roles.names.every((name) => recorded.roles.names.includes(name));
}

/** Returns the value that a slot reads; `undefined` if it is not known. */
export function valueIn(known: Known, { root, path }: WireSlot): { readonly value: unknown } | undefined {
  switch (root) {
    case "principal.id":
      return belowText(known.principal, path);
    case "resource.id":
      return belowText(known.resource, path);
    case "resource.kind":
      return belowText(known.kind, path);
    case "principal.roles":
      if (known.roles.includes(undefined)) return undefined;
      return { value: path.length === 0 ? known.roles : BROKEN_PATH };
    default:
      return attributeIn(known, root, path);
  }
}

function attributeIn({ slots, values }: Known, root: string, path: readonly string[]): { readonly value: unknown } | undefined {
  const isAbove = (slot: WireSlot): boolean =>
    slot.root === root && slot.test === undefined && slot.path.length <= path.length && slot.path.every((name, at) => name === path[at]);
  const at = slots.findIndex(isAbove);
  return at < 0 ? undefined : { value: followed(values[at], path.slice(slots[at]!.path.length)) };
}

/** Returns the value at the end of a path. */
function followed(start: unknown, path: readonly string[]): unknown {
  let value = start;
  for (const [at, name] of path.entries()) {
    if (value === BROKEN_PATH || value === undefined || Array.isArray(value)) return BROKEN_PATH;
    // A value other than an object has no members.
    if (typeof value !== "object" || value === null) return at === path.length - 1 ? undefined : BROKEN_PATH;
    value = Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return value;
}

function belowText(text: string | undefined, path: readonly string[]): { readonly value: unknown } | undefined {
  if (text === undefined) return undefined;
  return { value: path.length === 0 ? text : path.length === 1 ? undefined : BROKEN_PATH };
}
