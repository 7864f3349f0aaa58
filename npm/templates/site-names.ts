// The names that the hot functions read at a site of their own: `n0` is read at site 0. They are
// variables: an import that changes only once is as fast as a constant.

//= for each site
export let n$N = "";
//= end

/** Assigns a name to a site, for the whole program. */
export function setName(site: number, name: string): void {
  switch (site) {
//= for each site
    case $N: n$N = name; break;
//= end
  }
}
