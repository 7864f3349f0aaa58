// Reads the fields of a packet that the module has checked, so that nothing is checked here again.
//
// Numbers and text are read from the memory of the module: there the bytes are those that were
// checked, even if another thread changes the bytes of the caller. Binary fields are views of the
// bytes of the caller.

export class PacketReader {
  /** The offset of the next byte. */
  at = 0;
  readonly #checked: Uint8Array;
  readonly #given: Uint8Array;

  constructor(checked: Uint8Array, given: Uint8Array) {
    this.#checked = checked;
    this.#given = given;
  }

  byte(): number {
    return this.#checked[this.at++]!;
  }

  two(): number {
    return this.byte() * 2 ** 8 + this.byte();
  }

  four(): number {
    return this.two() * 2 ** 16 + this.two();
  }

  /** Reads a number of variable length (5.0, section 1.5.5). */
  number(): number {
    let number = 0;
    for (let unit = 1; ; unit *= 2 ** 7) {
      const byte = this.byte();
      number += (byte & 0x7f) * unit;
      if (byte < 0x80) return number;
    }
  }

  text(): string {
    const length = this.two();
    this.at += length;
    return textAt(this.#checked, this.at - length, length);
  }

  binary(): Uint8Array {
    const length = this.two();
    return this.bytes(this.at + length);
  }

  /** Returns a view of the bytes up to an offset. */
  bytes(end: number): Uint8Array {
    const { buffer, byteOffset } = this.#given;
    const start = this.at;
    this.at = end;
    return new Uint8Array(buffer, byteOffset + start, end - start);
  }
}

/** Returns text that is UTF-8. */
export function textAt(bytes: Uint8Array, start: number, length: number): string {
  if (length <= SHORT_TEXT) {
    const codes = new Array<number>(length);
    let all = 0;
    for (let at = 0; at < length; at += 1) {
      const byte = bytes[start + at]!;
      codes[at] = byte;
      all |= byte;
    }
    if (all < 0x80) return String.fromCharCode.apply(undefined, codes);
  }
  return decoder.decode(bytes.subarray(start, start + length));
}

/** The longest text in bytes that is faster to read byte by byte. */
const SHORT_TEXT = 48;

// A text of the packet may begin with U+FEFF, which is part of it [MQTT-1.5.4-3].
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
