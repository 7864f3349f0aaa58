// Places in the source at which a member is read, each under a name of its own.
//
// A host makes a read fast that always reads the same name at the same place, and a name in a variable
// that never changes is as good as one in the source. So the hot functions have one place for each of
// the first names that any policy uses. A place keeps its name for as long as the program runs, over all
// PDPs and reloads: one that changed would be slow for good. Further names are read in one place for all,
// which is correct and takes about 5 ns a read instead of 1.

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

export let n0 = "";
export let n1 = "";
export let n2 = "";
export let n3 = "";
export let n4 = "";
export let n5 = "";
export let n6 = "";
export let n7 = "";
export let n8 = "";
export let n9 = "";
export let n10 = "";
export let n11 = "";
export let n12 = "";
export let n13 = "";
export let n14 = "";
export let n15 = "";
export let n16 = "";
export let n17 = "";
export let n18 = "";
export let n19 = "";
export let n20 = "";
export let n21 = "";
export let n22 = "";
export let n23 = "";
export let n24 = "";
export let n25 = "";
export let n26 = "";
export let n27 = "";
export let n28 = "";
export let n29 = "";
export let n30 = "";
export let n31 = "";

function setName(site: number, name: string): void {
  switch (site) {
    case 0: n0 = name; break;
    case 1: n1 = name; break;
    case 2: n2 = name; break;
    case 3: n3 = name; break;
    case 4: n4 = name; break;
    case 5: n5 = name; break;
    case 6: n6 = name; break;
    case 7: n7 = name; break;
    case 8: n8 = name; break;
    case 9: n9 = name; break;
    case 10: n10 = name; break;
    case 11: n11 = name; break;
    case 12: n12 = name; break;
    case 13: n13 = name; break;
    case 14: n14 = name; break;
    case 15: n15 = name; break;
    case 16: n16 = name; break;
    case 17: n17 = name; break;
    case 18: n18 = name; break;
    case 19: n19 = name; break;
    case 20: n20 = name; break;
    case 21: n21 = name; break;
    case 22: n22 = name; break;
    case 23: n23 = name; break;
    case 24: n24 = name; break;
    case 25: n25 = name; break;
    case 26: n26 = name; break;
    case 27: n27 = name; break;
    case 28: n28 = name; break;
    case 29: n29 = name; break;
    case 30: n30 = name; break;
    case 31: n31 = name; break;
  }
}
