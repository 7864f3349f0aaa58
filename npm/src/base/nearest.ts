// The known name that is nearest to a misspelt one: the mirror of `crates/server/src/config/nearest.rs`.

/** Returns the end of a message about an unknown name: the one that was meant, or all known ones. */
export function expected(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? `, expected one of ${known.join(", ")}` : `, did you mean \`${meant}\`?`;
}

/** Returns the nearest of the known names, if its distance is at most a third of the letters of `given`. */
export function nearest(given: string, known: readonly string[]): string | undefined {
  if (given.length > MAX_LETTERS) return undefined;
  const most = Math.max(1, Math.floor(given.length / 3));
  let best: string | undefined;
  let least = most + 1;
  for (const name of known) {
    const found = distance(given, name);
    if (found < least) [best, least] = [name, found];
  }
  return best;
}

/** Returns the number of letters that are inserted, removed, replaced or swapped with their neighbour. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i += 1) {
    const [row, above, two] = [[i], rows[i - 1]!, rows[i - 2]];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = above[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const swapped = two !== undefined && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1] ? two[j - 2]! + 1 : replaced;
      row.push(Math.min(above[j]! + 1, row[j - 1]! + 1, replaced, swapped));
    }
    rows.push(row);
  }
  return rows[from.length]![to.length]!;
}

/** Letters of the longest name that is compared. */
const MAX_LETTERS = 64;
