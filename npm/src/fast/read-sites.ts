// Sites in the source that read a member, each under one name.
//
// An engine makes a read fast that always reads the same name at the same site, and a name in a
// variable that never changes is as good as a literal. So the hot functions have one site for each
// of the first names that any policy uses. A site keeps its name for the whole program, over all
// PDPs and reloads: a changed name would make it slow for good. Further names share one site, which
// is correct and takes about 5 ns a read instead of 1.

import { setName } from "./generated/site-names.ts";
import { LONE, USES_CONSTANTS, USES_TEST, USES_TEXT, USES_VALUE } from "../wasm/frame.ts";

/** Returns the site for a name, and assigns a free one if necessary; `BY_NAME` if none is free. */
export function siteOf(name: string): number {
  const known = sites.get(name);
  if (known !== undefined) return known;
  const site = sites.size;
  if (site === BY_NAME) return BY_NAME;
  sites.set(name, site);
  setName(site, name);
  return site;
}

const sites = new Map<string, number>();

/**
 * A step is two numbers. The first has these bits: the source of the value (a site, or one of the
 * numbers below),
 */
export const SITE = 63;
export const BY_NAME = 32;
export const PRINCIPAL_ID = 33;
export const RESOURCE_ID = 34;
export const RESOURCE_KIND = 35;
export const PRINCIPAL_ROLES = 36;
/** the attributes as a whole, */
export const WHOLE = 37;
/** the claims of the token of the auxiliary data, or all of its tokens by name, */
export const CLAIMS = 38;
export const TOKENS = 39;
/** no value that may be read in a request, so that the general path decides; the evidence of a decision may have it, */
export const UNREADABLE = 40;
/** the object to read from, unless it is the result of the previous step, */
export const FROM_RESOURCE = 1 << 6;
export const FROM_PRINCIPAL = 1 << 7;
/** whether the value is that of the slot, the slot, and the uses of the slot. */
export const LAST = 1 << 8;
export const SLOT = 9;
export const SLOT_MASK = 31;
export const USES = 14;
/** The uses whose strings do not all have temporary words of their own. */
export const APART = (USES_CONSTANTS | LONE) << USES;
export const WITH_VALUE = USES_VALUE << USES;
/** The uses that store the text or value of the slot in the arena. */
export const HELD = (USES_TEXT | USES_VALUE) << USES;
/** The word is the result of a test; see `derived.ts`. */
export const TESTED = USES_TEST << USES;
/** The value is an operand of a later test. */
export const OPERAND = 1 << 19;
/** The steps whose value is used beyond its word. */
export const USED = HELD | TESTED | OPERAND;

/** The second number has these bits: the detail, and the number in an accessor module. */
export const DETAIL = (1 << 20) - 1;
export const ACCESSOR = 20;
/**
 * The first number of a name in an accessor module. The numbers below mean the same as in `SITE`.
 */
export const FIRST_ACCESSOR = SITE + 1;
export const MAX_ACCESSORS = 4096 - FIRST_ACCESSOR;
