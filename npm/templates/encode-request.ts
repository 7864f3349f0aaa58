// Reads a request into the frame and decides it: the hot function of `isAllowed`.
//
// It reads only the members that the fast path of the kind and action names, each once, and writes
// only the frame. Any deviation is `UNSURE`: the general path reads the request again, and decides
// or refuses it.
//
// Every read may run code of the caller, which may reload or dispose of the bundle. So the loop
// runs over data of the fast path, which no reload changes, and the serial tells at the end whether
// the answer counts.
//
// The loop over the steps is in this file, in `encode-resource.ts` and in every accessor module;
// only the reads differ. The feedback of the engine about the objects in one of them would slow
// down the others, and as a function of its own the loop was 5 % slower. For the same reason the
// checks of prototypes are inlined.

import * as entry from "../accessors.ts";
import type { FastPaths } from "../fast-paths.ts";
import type { Fields } from "../../base/plain.ts";
import {
  $SITES,
} from "./site-names.ts";

/** Decides a request on the fast path: `DENY`, `ALLOW` or `UNSURE`. */
export function decideRequest(plans: FastPaths, request: unknown): number {
  const mine = begin();
  if (isDisturbed() || !isObject(request) || (request.__proto__ !== OBJECT && !isPlain(request))) return UNSURE;
  const { principal, action, resource } = request;
  if (!isObject(principal) || (principal.__proto__ !== OBJECT && !isPlain(principal))) return UNSURE;
  if (!isObject(resource) || (resource.__proto__ !== OBJECT && !isPlain(resource))) return UNSURE;
  const { kind, id: resourceId, scope, policyVersion } = resource;
  if (typeof kind !== "string" || typeof resourceId !== "string" || typeof action !== "string") return UNSURE;
  const kinds = scope === undefined && policyVersion === undefined ? plans.kinds : plans.kindsOf(policyVersion, scope);
  if (kinds === null) return UNSURE;
  const place = digest(kind) & kinds.mask;
  const list = kinds.names[place] === kind ? kinds.lists[place]! : kinds.miss(plans, kind);
  if (list === null) return UNSURE;
  const { id: principalId, roles } = principal;
  if (typeof principalId !== "string") return UNSURE;
  const isOwn = plans.hasPrincipals === true && plans.principals.has(principalId);
  const plan = isOwn ? ownPath(plans, kinds, principal, kind, action) : planFor(list, action);
  if (plan === null) return UNSURE;
  const { frame } = plans;
  const mask = plan.flags & BY_CLASS ? classesOf(plan.roles, roles, frame) : maskOf(plan.roles, roles);
  if (mask < 0) return UNSURE;
  // Attributes that are absent may be under a misspelt name: then the general path refuses.
  let principalAttr: Fields = NOTHING;
  if (plan.readsPrincipal === true) {
    const { attr } = principal;
    if (isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr))) principalAttr = attr;
    else if (attr !== undefined || !hasOnly(principal, PRINCIPAL_MEMBERS)) return UNSURE;
  }
  const tokens = plan.readsTokens === true ? tokensIn(request) : NO_TOKENS;
  if (tokens === null) return UNSURE;
//= include step-loop

  const answer = plan.isShort === true ? decideShort(plans, plan, mask, key, mine) : decideLong(plans, plan, mask, mine);
  return answer === UNSURE ? decideInOrder(plans, plan, roles, mine) : answer;
}

const OBJECT = Object.prototype;

// Constants of this module, functions too: an import is loaded and checked on each use (10 %).
const { apartWord, begin, brokenWord, classesOf, decideInOrder, decideLong, decideShort, digest, frames, hasOnly, hold } = entry;
const { isDisturbed, isListOrMap, isObject, isPlain, laterWord, maskOf, NOTHING, operands, places, planFor } = entry;
const { NO_TOKENS, ownPath, PRINCIPAL_MEMBERS, RESOURCE_MEMBERS, testWord, tokensIn } = entry;
const { ARENA_START, BY_CLASS, DIGIT, FALSE, MISSING, NULL, NUMBER, ODD, STRINGS, TEMPORARY, TRUE, UNSURE, VALUE } = frames;
const { APART, BY_NAME, CLAIMS, DETAIL, FROM_PRINCIPAL, FROM_RESOURCE, HELD, LAST, OPERAND, PRINCIPAL_ID, PRINCIPAL_ROLES } = places;
const { RESOURCE_ID, RESOURCE_KIND, SITE, SLOT, SLOT_MASK, TESTED, TOKENS, USED, WHOLE } = places;
