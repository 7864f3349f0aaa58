// Generated from `npm/templates/site-names.ts` by `cargo xtask generate`. Do not edit.
// The names that the hot functions read at a site of their own: `n0` is read at site 0. They are
// variables: an import that changes only once is as fast as a constant.

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

/** Assigns a name to a site, for the whole program. */
export function setName(site: number, name: string): void {
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
