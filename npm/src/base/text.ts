// What a string is beyond its text.

/** Whether the string has no half of a surrogate pair: such a half has no bytes in UTF-8. */
export const isWellFormed: (text: string) => boolean =
  "isWellFormed" in String.prototype
    ? (text) => (text as unknown as WellFormed).isWellFormed()
    : // Engines without vectors are older than the method.
      (text) => !HALF.test(text);

/** The same text as a string that the host recognises by its address. */
export function interned(text: string): string {
  return Object.keys({ [text]: 0 })[0]!;
}

/** Read by code points, whole pairs are no surrogates any more. */
const HALF = /\p{Surrogate}/u;

/** The language of the compiler does not know this method yet; current hosts do. */
interface WellFormed {
  isWellFormed(): boolean;
}
