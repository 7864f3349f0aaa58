import { describe, expect, it } from "vitest";

import { hash, hashMany } from "./hashing.ts";
import { runtimeNow } from "../wasm/module.ts";

const text = new TextEncoder();

function hexadecimal(digest: Uint8Array): string {
  return Buffer.from(digest).toString("hex");
}

describe("hash", () => {
  it("is BLAKE3", () => {
    expect(hexadecimal(hash(new Uint8Array()))).toBe("af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    expect(hexadecimal(hash(text.encode("abc")))).toBe("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85");
  });

  it("changes neither its input nor its earlier results", () => {
    const message = text.encode("abc");
    const digest = hash(message.buffer);
    hash(text.encode("other"));
    expect(hexadecimal(digest)).toBe(hexadecimal(hash(message)));
    expect(message).toEqual(text.encode("abc"));
  });

  it("refuses values that are not bytes", () => {
    expect(() => hash("abc" as unknown as Uint8Array)).toThrow(new TypeError("a message must be a Uint8Array or an ArrayBuffer, found string"));
    expect(() => hashMany([7 as unknown as Uint8Array])).toThrow("message 0 must be a Uint8Array");
    expect(() => hashMany("abc" as unknown as Uint8Array[])).toThrow("messages must be an array, found string");
  });

  it("passes on the exception of detached bytes, and works on", () => {
    const detached = new Uint8Array(4);
    structuredClone(detached, { transfer: [detached.buffer] });
    const error = new Error("not today");
    const failing = Object.defineProperty(new Uint8Array(4), "length", { get: () => { throw error; } });
    for (const work of [(bytes: Uint8Array) => hash(bytes), (bytes: Uint8Array) => hashMany([bytes])]) {
      expect(() => work(detached)).toThrow(TypeError);
      expect(() => work(failing)).toThrow(error);
    }
    expect(() => hash(detached.buffer)).toThrow(TypeError);
    expect(hexadecimal(hash(text.encode("abc")))).toBe(hexadecimal(hashMany([text.encode("abc")])[0]!));
    expect(runtimeNow().generation).toBe(0);
  });

  it("takes bytes that other threads share, and may let grow", () => {
    const Memory = SharedArrayBuffer as new (length: number, options: object) => SharedArrayBuffer;
    const shared = new Uint8Array(new Memory(3, { maxByteLength: 9 }));
    shared.set(text.encode("abc"));
    expect(hexadecimal(hash(shared))).toBe(hexadecimal(hash(text.encode("abc"))));
    expect(hexadecimal(hashMany([shared])[0]!)).toBe(hexadecimal(hash(shared)));
  });
});

describe("hashMany", () => {
  it("equals hash for each message", () => {
    const lengths = [0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 5000, 65_536, 200_000];
    const messages = lengths.map((length) => Uint8Array.from({ length }, (_, at) => (at * 7 + length) % 251));
    expect(hashMany(messages).map(hexadecimal)).toEqual(messages.map((message) => hexadecimal(hash(message))));
    expect(hashMany([])).toEqual([]);
  });
});
