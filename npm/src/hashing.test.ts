import { describe, expect, it } from "vitest";

import { hash, hashMany } from "./hashing.ts";

const text = new TextEncoder();

function hexadecimal(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}

describe("hash", () => {
  it("is BLAKE3", () => {
    expect(hexadecimal(hash(new Uint8Array()))).toBe("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    expect(hexadecimal(hash(text.encode("abc")))).toBe("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  });

  it("leaves what it is given, and what it gave, alone", () => {
    const message = text.encode("abc");
    const digest = hash(message.buffer);
    hash(text.encode("other"));
    expect(hexadecimal(digest)).toBe(hexadecimal(hash(message)));
    expect(message).toEqual(text.encode("abc"));
  });

  it("refuses what is not bytes", () => {
    expect(() => hash("abc" as unknown as Uint8Array)).toThrow(new TypeError("a message must be a Uint8Array or an ArrayBuffer, found string"));
    expect(() => hashMany([7 as unknown as Uint8Array])).toThrow("message 0 must be a Uint8Array");
    expect(() => hashMany("abc" as unknown as Uint8Array[])).toThrow("messages must be an array, found string");
  });
});

describe("hashMany", () => {
  it("says of each message what hash says", () => {
    const lengths = [0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 5000, 65_536, 200_000];
    const messages = lengths.map((length) => Uint8Array.from({ length }, (_, at) => (at * 7 + length) % 251));
    expect(hashMany(messages).map(hexadecimal)).toEqual(messages.map((message) => hexadecimal(hash(message))));
    expect(hashMany([])).toEqual([]);
  });
});
