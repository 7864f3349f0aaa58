// What a string is beyond its text.

/** Whether the string has no half of a surrogate pair: such a half has no bytes in UTF-8. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as WellFormed).isWellFormed();
}

/** The same text as a string that the host recognises by its address. */
export function interned(text: string): string {
  return Object.keys({ [text]: 0 })[0]!;
}

/** The language of the compiler does not know this method yet; every supported host does. */
interface WellFormed {
  isWellFormed(): boolean;
}
