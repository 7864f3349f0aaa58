// Reads a resource into the frame and decides it, for a prepared principal, kind and action.
//
// The loop over the steps is the one of `encode-request.ts`, which explains it. A test compares
// them.

import * as entry from "../accessors.ts";
import type { FastPath, FastPaths } from "../fast-paths.ts";
import type { Fields, Tokens } from "../../base/plain.ts";
import {
  $SITES,
} from "./site-names.ts";

/**
 * Decides with a fast path. `mask` is the mask of the roles, `kind` is the kind of the resource,
 * and `mine` is the serial of the caller. The principal is passed in parts: an object for them cost
 * 8 ns.
 */
export function decideResource(
  plans: FastPaths,
  plan: FastPath,
  mask: number,
  principalId: string,
  roles: readonly unknown[],
  principalAttr: Fields,
  kind: string,
  resource: Fields,
  tokens: Tokens,
  mine: number,
): number {
  const resourceId = resource["id"];
  if (typeof resourceId !== "string") return UNSURE;
  const { frame } = plans;
//= include step-loop

  const answer = plan.isShort === true ? decideShort(plans, plan, mask, key, mine) : decideLong(plans, plan, mask, mine);
  return answer === UNSURE ? decideInOrder(plans, plan, roles, mine) : answer;
}

const OBJECT = Object.prototype;

// Constants of this module: see `encode-request.ts`.
const { apartWord, brokenWord, decideInOrder, decideLong, decideShort, frames, hasOnly, hold } = entry;
const { isListOrMap, isObject, isPlain, laterWord, NOTHING, operands, places, RESOURCE_MEMBERS, testWord } = entry;
const { ARENA_START, DIGIT, FALSE, MISSING, NULL, NUMBER, ODD, STRINGS, TEMPORARY, TRUE, UNSURE, VALUE } = frames;
const { APART, BY_NAME, CLAIMS, DETAIL, FROM_PRINCIPAL, FROM_RESOURCE, HELD, LAST, OPERAND, PRINCIPAL_ID, PRINCIPAL_ROLES } = places;
const { RESOURCE_ID, RESOURCE_KIND, SITE, SLOT, SLOT_MASK, TESTED, TOKENS, USED, WHOLE } = places;
