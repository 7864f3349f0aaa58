// Converts the roles of a principal to the masks or classes of a fast path.

import { CLASSES_AT, MAX_CLASSES, type Frame } from "../wasm/frame.ts";
import type { RoleTable } from "./fast-paths.ts";

/**
 * Returns the masks of all roles together; -1 if the value is not a list of strings, or too long.
 */
export function maskOf(table: RoleTable, roles: unknown): number {
  if (!Array.isArray(roles)) return -1;
  const { length } = roles;
  if (length > MAX_ROLES) return -1;
  let mask = 0;
  for (let at = 0; at < length; at += 1) {
    const role: unknown = roles[at];
    if (typeof role !== "string") return -1;
    mask |= maskOfOne(table, role);
  }
  return mask;
}

/** Writes the classes of the roles in their order, and returns their number; -1 as above. */
export function classesOf(table: RoleTable, roles: unknown, { words }: Frame): number {
  if (!Array.isArray(roles)) return -1;
  const { length } = roles;
  if (length > MAX_CLASSES) return -1;
  for (let at = 0; at < length; at += 1) {
    const role: unknown = roles[at];
    if (typeof role !== "string") return -1;
    const found = maskOfOne(table, role);
    if (found < 0) return -1;
    words[CLASSES_AT + at] = found;
  }
  return length;
}

/** Returns the mask or class of one role; -1 if it is too long. */
// A constant: the engine assumes that a function declaration can be replaced.
export const maskOfOne = ({ lengths, names, masks, map, others }: RoleTable, role: string): number => {
  if (role.length > MAX_LENGTH) return -1;
  if (!((lengths >>> (role.length & 31)) & 1)) return others;
  if (map !== null) return map.get(role) ?? others;
  for (let at = 0; at < names.length; at += 1) if (role === names[at]) return masks[at]!;
  return others;
};

/** No fast path proves that the general path can process more or longer roles within its steps. */
const MAX_ROLES = 64;
const MAX_LENGTH = 64;
