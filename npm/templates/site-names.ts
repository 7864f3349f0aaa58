// The names that the hot functions read at a site of their own: `n0` is read at site 0. They are variables, because an import that
// changes once is as fast as a constant.

//= for each site
export let n$N = "";
//= end

/** Gives a site its name, for as long as the program runs. */
export function setName(site: number, name: string): void {
  switch (site) {
//= for each site
    case $N: n$N = name; break;
//= end
  }
}
