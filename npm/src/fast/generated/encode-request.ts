// Generated from `npm/templates/encode-request.ts` by `cargo xtask generate`. Do not edit.
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
  n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15,
  n16, n17, n18, n19, n20, n21, n22, n23, n24, n25, n26, n27, n28, n29, n30, n31,
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
  let resourceAttr: Fields = NOTHING;
  if (plan.readsResource === true) {
    const { attr } = resource;
    if (isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr))) resourceAttr = attr;
    else if (attr !== undefined || !hasOnly(resource, RESOURCE_MEMBERS)) return UNSURE;
  }

  frame.used = ARENA_START;
  const { words, numbers } = frame;
  const { steps, details, from, to } = plan;
  let o: Fields = NOTHING;
  let key = mask;
  let u0: unknown, u1: unknown, u2: unknown, u3: unknown;
  let more: string[] | undefined;
  for (let at = from; at < to; at += 2) {
    const step = steps[at]!;
    if (step & FROM_RESOURCE) o = resourceAttr;
    else if (step & FROM_PRINCIPAL) o = principalAttr;
    let v: unknown;
    switch (step & SITE) {
      case 0: if (n0 in OBJECT) return UNSURE; v = o[n0]; break;
      case 1: if (n1 in OBJECT) return UNSURE; v = o[n1]; break;
      case 2: if (n2 in OBJECT) return UNSURE; v = o[n2]; break;
      case 3: if (n3 in OBJECT) return UNSURE; v = o[n3]; break;
      case 4: if (n4 in OBJECT) return UNSURE; v = o[n4]; break;
      case 5: if (n5 in OBJECT) return UNSURE; v = o[n5]; break;
      case 6: if (n6 in OBJECT) return UNSURE; v = o[n6]; break;
      case 7: if (n7 in OBJECT) return UNSURE; v = o[n7]; break;
      case 8: if (n8 in OBJECT) return UNSURE; v = o[n8]; break;
      case 9: if (n9 in OBJECT) return UNSURE; v = o[n9]; break;
      case 10: if (n10 in OBJECT) return UNSURE; v = o[n10]; break;
      case 11: if (n11 in OBJECT) return UNSURE; v = o[n11]; break;
      case 12: if (n12 in OBJECT) return UNSURE; v = o[n12]; break;
      case 13: if (n13 in OBJECT) return UNSURE; v = o[n13]; break;
      case 14: if (n14 in OBJECT) return UNSURE; v = o[n14]; break;
      case 15: if (n15 in OBJECT) return UNSURE; v = o[n15]; break;
      case 16: if (n16 in OBJECT) return UNSURE; v = o[n16]; break;
      case 17: if (n17 in OBJECT) return UNSURE; v = o[n17]; break;
      case 18: if (n18 in OBJECT) return UNSURE; v = o[n18]; break;
      case 19: if (n19 in OBJECT) return UNSURE; v = o[n19]; break;
      case 20: if (n20 in OBJECT) return UNSURE; v = o[n20]; break;
      case 21: if (n21 in OBJECT) return UNSURE; v = o[n21]; break;
      case 22: if (n22 in OBJECT) return UNSURE; v = o[n22]; break;
      case 23: if (n23 in OBJECT) return UNSURE; v = o[n23]; break;
      case 24: if (n24 in OBJECT) return UNSURE; v = o[n24]; break;
      case 25: if (n25 in OBJECT) return UNSURE; v = o[n25]; break;
      case 26: if (n26 in OBJECT) return UNSURE; v = o[n26]; break;
      case 27: if (n27 in OBJECT) return UNSURE; v = o[n27]; break;
      case 28: if (n28 in OBJECT) return UNSURE; v = o[n28]; break;
      case 29: if (n29 in OBJECT) return UNSURE; v = o[n29]; break;
      case 30: if (n30 in OBJECT) return UNSURE; v = o[n30]; break;
      case 31: if (n31 in OBJECT) return UNSURE; v = o[n31]; break;
      case BY_NAME: {
        const { name } = details[steps[at + 1]! & DETAIL]!;
        if (name in OBJECT) return UNSURE;
        v = o[name];
        break;
      }
      case PRINCIPAL_ID: v = principalId; break;
      case RESOURCE_ID: v = resourceId; break;
      case RESOURCE_KIND: v = kind; break;
      case PRINCIPAL_ROLES: v = roles; break;
      case WHOLE: v = o; break;
      case CLAIMS: v = tokens.jwt; break;
      case TOKENS: v = tokens.jwts; break;
      default: return UNSURE;
    }
    const slot = (step >>> SLOT) & SLOT_MASK;
    if (!(step & LAST)) {
      if (isObject(v) && !Array.isArray(v) && (v.__proto__ === OBJECT || isPlain(v))) {
        o = v;
        continue;
      }
      const word = brokenWord(v, steps[at + 2]!);
      if (word < 0) return UNSURE;
      words[slot] = word;
      operands[slot] = undefined;
      do at += 2; while (at < to && !(steps[at]! & LAST));
      continue;
    }
    if (step & USED) {
      if (step & HELD && !hold(frame, slot, v, step)) return UNSURE;
      if (step & OPERAND) operands[slot] = v;
      if (step & TESTED) {
        const word = testWord(frame, slot, details[steps[at + 1]! & DETAIL]!.test!, v);
        if (word < 0) return UNSURE;
        words[slot] = word;
        key = (key << DIGIT) | (word > TRUE ? ODD : word);
        continue;
      }
    }
    let word = MISSING;
    let digit = MISSING;
    // The order of `true` and `false` is unpredictable, so no branch depends on it.
    const isTrue = +(v === true);
    if (isTrue | +(v === false)) digit = word = FALSE + isTrue;
    else if (typeof v === "string") {
      if (step & APART) word = apartWord(details[steps[at + 1]! & DETAIL]!.constants, v, step);
      if (word !== MISSING) { /* It is one of the constants, or compared with constants only. */ }
      else if (v === u0) word = TEMPORARY;
      else if (u0 === undefined) { u0 = v; word = TEMPORARY; }
      else if (v === u1) word = TEMPORARY + 1;
      else if (u1 === undefined) { u1 = v; word = TEMPORARY + 1; }
      else if (v === u2) word = TEMPORARY + 2;
      else if (u2 === undefined) { u2 = v; word = TEMPORARY + 2; }
      else if (v === u3) word = TEMPORARY + 3;
      else if (u3 === undefined) { u3 = v; word = TEMPORARY + 3; }
      else word = laterWord((more ??= []), v);
      digit = word - STRINGS;
    } else if (typeof v === "number") {
      if (v - v !== 0) return UNSURE;
      numbers[slot] = v;
      word = NUMBER;
      digit = ODD;
    } else if (v === null) digit = word = NULL;
    else if (v !== undefined) {
      if (!isListOrMap(v)) return UNSURE;
      word = VALUE;
      digit = ODD;
    }
    words[slot] = word;
    key = (key << DIGIT) | digit;
  }

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
