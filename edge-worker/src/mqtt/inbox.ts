// Joins the messages of a WebSocket to packets of MQTT, which may span them [MQTT-6.0.0-2].

export class Inbox {
  /** The longest packet. What begins a longer one is given out at once: the gate refuses it. */
  readonly #most: number;
  #bytes: Uint8Array = NOTHING;
  #length = 0;
  /** The length at which there may be a whole packet. */
  #needed = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The beginning of a packet that waits for its rest. */
  get rest(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Takes bytes, and returns the packets that are whole; they are valid until the next call. */
  take(bytes: Uint8Array): Uint8Array {
    if (this.#length > 0) {
      this.#append(bytes);
      if (this.#length < this.#needed) return NOTHING;
      bytes = this.#bytes.slice(0, this.#length);
    }
    const { whole, needed } = split(bytes, this.#most);
    this.#length = 0;
    this.#needed = needed - whole;
    if (whole < bytes.length) this.#append(bytes.subarray(whole));
    else this.#bytes = NOTHING;
    return bytes.subarray(0, whole);
  }

  /** Grows by doubling, so that a packet which comes byte by byte is not copied each time. */
  #append(bytes: Uint8Array): void {
    const length = this.#length + bytes.length;
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
      grown.set(this.rest);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = length;
  }
}

/**
 * Returns the number of bytes of the whole packets at the front, and the number of bytes with which
 * there may be one more. Bytes that begin no packet, or a longer one than `most`, count as whole.
 */
function split(bytes: Uint8Array, most: number): { readonly whole: number; readonly needed: number } {
  let whole = 0;
  while (whole < bytes.length) {
    const length = lengthAt(bytes, whole);
    if (length === "malformed" || (length !== undefined && length > most)) return { whole: bytes.length, needed: bytes.length };
    // Without the length, the next byte may be its last.
    const needed = length === undefined ? bytes.length + 1 : whole + length;
    if (needed > bytes.length) return { whole, needed };
    whole = needed;
  }
  return { whole, needed: whole };
}

/** Returns the length of the packet at an offset, with its fixed header; `undefined` if it is not there. */
export function lengthAt(bytes: Uint8Array, at: number): number | "malformed" | undefined {
  let length = 0;
  for (let place = 0; place < 4; place += 1) {
    const byte = bytes[at + 1 + place];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) << (7 * place);
    if (byte < 0x80) return length + place + 2;
  }
  return "malformed";
}

export function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0]!;
  const whole = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const NOTHING = new Uint8Array();
