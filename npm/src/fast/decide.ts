// Decides the contents of the frame, if no other call has changed them.

import { ALWAYS, BY_CLASS, NOW, TRUE, UNSURE } from "../wasm/frame.ts";
import type { FastPath, FastPaths } from "./fast-paths.ts";
import { callState } from "../wasm/reentrancy.ts";

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
export function decideLong(fastPaths: FastPaths, { id, flags }: FastPath, roles: number, serial: number): number {
  if (fastPaths.canExpire === true && fastPaths.isExpired()) return UNSURE;
  // The clock is code of the caller too.
  const now = flags & NOW ? fastPaths.clock() : 0;
  const { frame, handle } = fastPaths;
  if (callState.serial !== serial || frame.words.length === 0) return UNSURE;
  callState.isDeciding = true;
  const answer =
    flags & BY_CLASS
      ? frame.decideClasses(handle, id, roles, frame.used, now)
      : frame.decideValues(handle, id, roles, frame.used, now);
  callState.isDeciding = false;
  return answer;
}
