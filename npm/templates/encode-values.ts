// Reads the parts of a request into the frame for a fast path whose verdict is wanted.
//
// The loop over the steps is the one of `encode-request.ts`, which explains it.

import * as entry from "../accessors.ts";
import type { FastPath, FastPaths } from "../fast-paths.ts";
import type { Fields, Tokens } from "../../base/plain.ts";
import {
  $SITES,
} from "./site-names.ts";

/** Writes the slots of a fast path. Returns `UNSURE` if only the general path may read them, else `ENCODED`. */
export function encodeValues(
  plans: FastPaths,
  plan: FastPath,
  principalId: string,
  roles: readonly unknown[],
  principalAttr: Fields,
  kind: string,
  resourceId: string,
  resourceAttr: Fields,
  tokens: Tokens,
): number {
  const { frame } = plans;
  const mask = 0;
//= include values
  return ENCODED;
}

/** The result if all slots are written. */
export const ENCODED = 0;

const OBJECT = Object.prototype;

// Constants of this module: see `encode-request.ts`.
const { apartWord, brokenWord, frames, hold } = entry;
const { isListOrMap, isObject, isPlain, laterWord, NOTHING, operands, places, testWord } = entry;
const { ARENA_START, DIGIT, FALSE, MISSING, NULL, NUMBER, ODD, STRINGS, TEMPORARY, TRUE, UNSURE, VALUE } = frames;
const { APART, BY_NAME, CLAIMS, DETAIL, FROM_PRINCIPAL, FROM_RESOURCE, HELD, LAST, OPERAND, PRINCIPAL_ID, PRINCIPAL_ROLES } = places;
const { RESOURCE_ID, RESOURCE_KIND, SITE, SLOT, SLOT_MASK, TESTED, TOKENS, USED, WHOLE } = places;
