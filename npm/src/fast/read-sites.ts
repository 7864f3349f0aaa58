// Places in the source at which a member is read, each under a name of its own.
//
// A host makes a read fast that always reads the same name at the same place, and a name in a variable
// that never changes is as good as one in the source. So the hot functions have one place for each of
// the first names that any policy uses. A place keeps its name for as long as the program runs, over all
// PDPs and reloads: one that changed would be slow for good. Further names are read in one place for all,
// which is correct and takes about 5 ns a read instead of 1.

import { setName } from "./generated/site-names.ts";
import { USES_CONSTANTS, USES_TEXT, USES_VALUE } from "../wasm/frame.ts";

/** Returns the place for a name, which is made if there is room; `BY_NAME` if there is none. */
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
 * A step is two numbers. The bits of the first: where it reads (one of the places, or one of the words
 * below),
 */
export const SITE = 63;
export const BY_NAME = 32;
export const PRINCIPAL_ID = 33;
export const RESOURCE_ID = 34;
export const RESOURCE_KIND = 35;
export const PRINCIPAL_ROLES = 36;
/** the attributes as a whole, */
export const WHOLE = 37;
/** what it reads from, if not what the step before found, */
export const FROM_RESOURCE = 1 << 6;
export const FROM_PRINCIPAL = 1 << 7;
/** whether the value is what the slot holds, the slot, and what the slot is used for. */
export const LAST = 1 << 8;
export const SLOT = 9;
export const SLOT_MASK = 31;
export const USES = 14;
export const WITH_CONSTANTS = USES_CONSTANTS << USES;
export const WITH_VALUE = USES_VALUE << USES;
/** Whether the text or value of the slot is held in the arena. */
export const HELD = (USES_TEXT | USES_VALUE) << USES;

/** The bits of the second: its detail, and the place in an accessor module. */
export const DETAIL = (1 << 20) - 1;
export const ACCESSOR = 20;
/** Names have numbers from here on there; below, the words above mean the same. */
export const FIRST_ACCESSOR = SITE + 1;
export const MAX_ACCESSORS = 4096 - FIRST_ACCESSOR;
