// The code of the module: its sources, and its refusals. Each test has a package of its own.

import { readFileSync } from "node:fs";

import { beforeEach, describe, expect, it, vi } from "vitest";

import type { loader as nodeLoader } from "../runtimes/node/load.ts";
import { hasSimd } from "../runtimes/simd.ts";
import { album, ofCode, viewing } from "../testing.ts";
import type { CodeSource } from "../base/web.ts";
import type { Pdp } from "../pdp/types.ts";

const vectors = readFileSync(new URL("../../wasm/wardgate_bg.wasm", import.meta.url));
const plain = readFileSync(new URL("../../wasm/wardgate_nosimd_bg.wasm", import.meta.url));
const served = (bytes: Uint8Array<ArrayBuffer>): Response => new Response(bytes, { headers: { "content-type": "application/wasm" } });

type Package = typeof import("../index.ts");
let loads: (typeof nodeLoader)["load"];
let loadsNow: (typeof nodeLoader)["loadNow"];
let fresh: Package;
beforeEach(async () => {
  vi.resetModules();
  loads = vi.fn(() => Promise.reject(new Error("no such file")));
  loadsNow = vi.fn(() => undefined);
  vi.doMock("../runtimes/node/load.ts", () => ({ loader: { load: () => loads(), loadNow: () => loadsNow(), openFile: () => undefined } }));
  fresh = await import("../index.ts");
});

/** Checks that the PDP decides, and disposes of it. */
function allows(pdp: Pdp): void {
  using own = pdp;
  expect(own.isAllowed(viewing())).toBe(true);
}

describe("code", () => {
  const ways: readonly (readonly [string, () => CodeSource | Promise<CodeSource>])[] = [
    ["compiled", () => WebAssembly.compile(vectors)],
    ["compiled without vectors", () => WebAssembly.compile(plain)],
    ["bytes", () => vectors],
    ["an ArrayBuffer", () => new Uint8Array(vectors).buffer],
    ["shared bytes", () => shared(vectors)],
    ["a response", () => served(new Uint8Array(vectors))],
    ["a response of another media type", () => new Response(new Uint8Array(vectors))],
    ["a promise of a response", () => ({ then: (done: (it: Response) => void) => done(served(new Uint8Array(plain))) }) as never],
  ];

  it.each(ways)("may be %s", async (_, make) => {
    // Not `await make()`: that would unwrap the promise.
    const made = make();
    const code = made instanceof Promise ? await made : (made as CodeSource);
    allows(await fresh.open(album, { trust: "unsigned", code }));
    expect(loads).not.toHaveBeenCalled();
  });

  it.each([["vectors", vectors], ["no vectors", plain]])("with %s hashes and verifies alike", async (_, code) => {
    await fresh.load({ code });
    const message = new TextEncoder().encode("abc");
    expect(Buffer.from(fresh.hash(message)).toString("hex")).toBe(ABC);
    const digests = fresh.hashMany(Array.from({ length: 40 }, () => message));
    expect(digests.map((digest) => Buffer.from(digest).toString("hex"))).toEqual(Array.from({ length: 40 }, () => ABC));
  });

  it("that came first is the code of all", async () => {
    await fresh.load({ code: plain });
    const code = Promise.reject<Response>(new Error("lost"));
    const both = [await fresh.open(album, { trust: "unsigned", code }), fresh.openSync(album, { trust: "unsigned" })];
    both.forEach(allows);
  });

  it("that fails does not prevent later code", async () => {
    const first = fresh.load({ code: Uint8Array.of(1) }).catch((error: unknown) => error);
    const second = fresh.open(album, { trust: "unsigned", code: vectors });
    expect(await first).toMatchObject({ code: "wrong-code" });
    allows(await second);
  });

  it("may be given to openSync", () => {
    for (const code of [new WebAssembly.Module(plain), plain]) {
      allows(fresh.openSync(album, { trust: "unsigned", code }));
    }
  });

  it("that is another module is refused by name", async () => {
    const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
    const page = new Response("<html>", { headers: { "content-type": "text/html" } });
    const wrong: readonly (readonly [CodeSource | (() => CodeSource), string, string])[] = [
      [Buffer.from("\x7fELF"), "wrong-code", "option `code` holds no code that runs here"],
      [empty, "wrong-code", "not the module of this version of the package: it has no `memory`"],
      [new Response(empty), "wrong-code", "it has no `memory`"],
      [new Response("MZ"), "wrong-code", "the response holds no code that runs here"],
      [served(vectors.subarray(0, 1000)), "wrong-code", "the response holds no code that runs here"],
      [page, "wrong-code", "the response is an HTML page (text/html)"],
      [new Response("", { status: 500 }), "not-fetched", "the response is not there: found 500"],
      [() => Promise.reject<Response>(new Error("no route")), "not-fetched", "cannot fetch the code: no route"],
    ];
    for (const [given, name, message] of wrong) {
      const code = typeof given === "function" ? (given as () => CodeSource)() : given;
      const error = (await fresh.load({ code }).catch((error: unknown) => error)) as Error;
      expect(error).toMatchObject({ name: "WardgateError", code: name });
      expect(error.message).toContain(message);
    }
    expect(() => fresh.openSync(album, { trust: "unsigned", code: empty })).toThrow("it has no `memory`");
    expect(() => fresh.openSync(album, { trust: "unsigned", code: Uint8Array.of(1) })).toThrow("holds no code");
  });

  it("of the wrong kind is a TypeError", async () => {
    await expect(fresh.load({ code: 7 as never })).rejects.toThrow("option `code` must be a WebAssembly.Module, a Response or bytes, found number");
    await expect(fresh.load(null as never)).rejects.toThrow("options must be an object, found null");
    await expect(fresh.load({ module: 7 } as never)).rejects.toThrow("unknown option `module`");
    const code = served(new Uint8Array(vectors));
    expect(() => fresh.openSync(album, { trust: "unsigned", code })).toThrow("option `code` must be a WebAssembly.Module or bytes, found object");
  });
});

describe("without code", () => {
  it("a module that does not load is named, and loaded again", async () => {
    await expect(fresh.open(album, { trust: "unsigned" })).rejects.toMatchObject({ code: "not-loaded", message: expect.stringContaining("no such file") });
    loads = () => WebAssembly.compile(vectors);
    allows(await fresh.open(album, { trust: "unsigned" }));
  });

  it("no synchronous call works before the module is loaded", async () => {
    const early = ofCode("not-loaded");
    expect(() => fresh.openSync(album, { trust: "unsigned" })).toThrow(early);
    expect(() => fresh.hash(album)).toThrow(early);
    loads = () => WebAssembly.compile(vectors);
    await fresh.load();
    expect(fresh.hash(album)).toHaveLength(32);
    allows(fresh.openSync(album, { trust: "unsigned" }));
  });
});

describe("vectors", () => {
  it("are detected if the engine has them", () => {
    expect(hasSimd()).toBe(true);
  });

  it("are detected by a module that only an engine with vectors accepts", () => {
    const validate = vi.spyOn(WebAssembly, "validate");
    hasSimd();
    const [bytes] = validate.mock.calls[0]!;
    // Without its two instructions it would be valid everywhere only with another return type.
    expect(WebAssembly.validate(bytes)).toBe(true);
    expect(Buffer.from(bytes as Uint8Array).includes(Buffer.from([0xfd, 0x0f]))).toBe(true);
  });
});

function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

/** BLAKE3 of `abc`. */
const ABC = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
