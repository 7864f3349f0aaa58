// Decides the contents of the frame, if no other call has changed them.

import { ALWAYS, BY_CLASS, CLASSES_AT, MAX_CLASSES, NOW, TRUE, UNSURE } from "../wasm/frame.ts";
import { maskOfOne } from "./role-masks.ts";
import type { FastPath, FastPaths } from "./fast-paths.ts";
import { callState } from "../wasm/reentrancy.ts";
import { writeTime } from "./derived.ts";

/**
 * Decides with a fast path that runs no program and whose roles fit in a mask. `key` encodes the
 * mask and the words.
 */
export function decideShort(fastPaths: FastPaths, fastPath: FastPath, mask: number, key: number, serial: number): number {
  // Before the check of the serial: the clock is code of the caller.
  if (fastPaths.canExpire === true && fastPaths.isExpired()) return UNSURE;
  const { frame, handle } = fastPaths;
  // Reading the length of a typed array takes 3 ns.
  if (callState.serial !== serial || frame.words[ALWAYS] !== TRUE) return UNSURE;
  const known = fastPath.truthTable[key & fastPath.lastKey]!;
  if (known !== UNSURE) return known;
  callState.isDeciding = true;
  const answer = frame.decide(handle, fastPath.id, mask);
  callState.isDeciding = false;
  return answer;
}

/**
 * Decides with any other fast path. `roles` is a mask, or the number of classes if the fast path
 * uses classes.
 */
export function decideLong(fastPaths: FastPaths, { id, flags, times }: FastPath, roles: number, serial: number): number {
  if (fastPaths.canExpire === true && fastPaths.isExpired()) return UNSURE;
  // The clock is code of the caller too.
  const now = flags & NOW ? fastPaths.clock() : 0;
  const { frame, handle } = fastPaths;
  if (callState.serial !== serial || frame.words.length === 0) return UNSURE;
  writeTime(frame, times, now);
  callState.isDeciding = true;
  const answer =
    flags & BY_CLASS
      ? frame.decideClasses(handle, id, roles, frame.used, now)
      : frame.decideValues(handle, id, roles, frame.used, now);
  callState.isDeciding = false;
  return answer;
}

/**
 * Decides again where a mask was unsure: one role may be allowed and another fail, so that their
 * order matters. The slots are still in the frame.
 */
export function decideInOrder(fastPaths: FastPaths, fastPath: FastPath, roles: unknown, serial: number): number {
  if (!Array.isArray(roles) || (fastPaths.canExpire === true && fastPaths.isExpired())) return UNSURE;
  const { length } = roles;
  const { frame, handle } = fastPaths;
  if (length < 2 || length > MAX_CLASSES || fastPath.flags & BY_CLASS) return UNSURE;
  if (callState.serial !== serial || frame.words[ALWAYS] !== TRUE) return UNSURE;
  for (let at = 0; at < length; at += 1) {
    const role: unknown = roles[at];
    const mask = typeof role === "string" ? maskOfOne(fastPath.roles, role) : -1;
    if (mask < 0) return UNSURE;
    frame.words[CLASSES_AT + at] = mask;
  }
  const now = fastPath.flags & NOW ? fastPaths.clock() : 0;
  // Roles in a proxy and the clock are code of the caller.
  if (callState.serial !== serial || frame.words[ALWAYS] !== TRUE) return UNSURE;
  writeTime(frame, fastPath.times, now);
  callState.isDeciding = true;
  const answer = frame.decideInOrder(handle, fastPath.id, length, frame.used, now);
  callState.isDeciding = false;
  return answer;
}
