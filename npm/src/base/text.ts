// Properties of strings beside their text.

/** Returns true if the string has no unpaired surrogate, which UTF-8 cannot encode. */
export const isWellFormed: (text: string) => boolean =
  "isWellFormed" in String.prototype
    ? (text) => (text as unknown as WellFormed).isWellFormed()
    : // Engines without vectors are older than the method.
      (text) => !HALF.test(text);

/**
 * Returns an equal string that the host has interned, so that comparing it takes a comparison of
 * addresses.
 */
export function intern(text: string): string {
  return Object.keys({ [text]: 0 })[0]!;
}

/** Matches unpaired surrogates only: with the flag `u`, a pair is one character. */
const HALF = /\p{Surrogate}/u;

/** The method `isWellFormed`, which the type declarations of this language version lack. */
interface WellFormed {
  isWellFormed(): boolean;
}

/**
 * Returns the bytes of a text whose characters are below 256, as `atob` makes it. The loop is not
 * `Uint8Array.from`, whose call for each byte takes 0.4 ms for a key before it is compiled.
 */
export function bytesOfBinary(binary: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
