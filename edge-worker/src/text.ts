// Bytes and text.

/** The bytes that a text in base64url stands for; nothing if it is none. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]*$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** The text that bytes in UTF-8 stand for. @throws TypeError if they stand for none. */
export function fromUtf8(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
}

/** Whether a text is an absolute URL. */
export function isUrl(text: string): boolean {
  try {
    return new URL(text).href !== "";
  } catch {
    return false;
  }
}

/** A stream ended beyond its bound. */
export class TooLarge extends Error {}

/**
 * Reads a stream to its end. One that is longer than it may be is not kept: so much of it as is said is passed over,
 * and no more is taken.
 */
export async function readBounded(stream: ReadableStream<Uint8Array>, most: number, passedOver = 0): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length <= most) pieces.push(value);
    else pieces.length = 0;
    if (length > most + passedOver) {
      // Nobody waits for the sender to notice.
      reader.cancel().catch(() => {});
      break;
    }
  }
  if (length > most) throw new TooLarge(`more than ${most} bytes`);
  return joined(pieces, length);
}

/** Whether two byte strings are the same. Not for secrets. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}

function joined(pieces: readonly Uint8Array[], length: number): Uint8Array {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
