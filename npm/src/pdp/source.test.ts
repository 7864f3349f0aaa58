// The sources of bundles, and their failures.

import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

import { describe, expect, it } from "vitest";

import { WardgateError } from "../base/errors.ts";
import { open, openSync } from "./open.ts";
import { addressOf, album, viewing } from "../testing.ts";
import type { BundleArrival } from "./source.ts";

const bytes = new Uint8Array(album);

describe("a bundle", () => {
  const sources: readonly (readonly [string, () => BundleArrival])[] = [
    ["bytes", () => bytes],
    ["an ArrayBuffer", () => bytes.slice().buffer],
    ["a response", () => new Response(bytes)],
    ["a promise of a response", () => Promise.resolve(new Response(bytes))],
    ["a promise of bytes", () => Promise.resolve(bytes)],
    ["a response of another implementation", () => response(new Response(bytes))],
    ["a stream", () => new Blob([bytes]).stream()],
    ["a stream of single bytes", () => pieces(...Array.from(bytes, (byte) => Uint8Array.of(byte)))],
    ["a stream with pauses", () => pieces(new Uint8Array(), bytes, new Uint8Array())],
    ["a data address", () => new URL(`data:;base64,${Buffer.from(bytes).toString("base64")}`)],
    ["the address of a file", () => file(bytes)],
  ];

  it.each(sources)("comes from %s", async (_, source) => {
    using pdp = await open(source(), { trust: "unsigned", maxBytes: bytes.length });
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it.each(sources)("from %s has at most maxBytes", async (_, source) => {
    const error = await open(source(), { trust: "unsigned", maxBytes: bytes.length - 1 }).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "WardgateError", code: "too-large" });
  });

  it("comes from a server", async () => {
    const name = await served((_, answer) => answer.end(bytes), async (address) => {
      using pdp = await open(address, { trust: "unsigned" });
      return pdp.header.name;
    });
    expect(name).toBe("");
  });

  it("is a copy of the bytes at the time of opening", async () => {
    const changing = bytes.slice();
    const opening = open(changing, { trust: "unsigned" });
    changing.fill(0);
    using pdp = await opening;
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("with a limit of no bytes is not read", async () => {
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(1000)),
      cancel: () => void (isCancelled = true),
    });
    await refused(endless, "too-large", "the stream has more than 5000 bytes", 5000);
    expect(isCancelled).toBe(true);
  });
});

describe("a source", () => {
  it("that has no bundle is named", async () => {
    const missing = new Response("no such page", { status: 404, statusText: "Not Found" });
    await refused(missing, "not-fetched", "the response is not there: found 404 Not Found");
    await refused(Response.error(), "not-fetched", "found an opaque response, which cannot be read");
    const page = new Response("<!doctype html>", { headers: { "content-type": "Text/HTML; charset=utf-8" } });
    await refused(page, "not-a-bundle", "the response is an HTML page (text/html)");
    await refused(new Response(null), "not-a-bundle", "the response is empty");
    await refused(new Response(""), "not-a-bundle", "the response is empty");
    await refused(pieces(), "not-a-bundle", "the stream is empty");
    await refused(file(new Uint8Array()), "not-a-bundle", "bundle is empty");
    const policy = 'these bytes are not a bundle, they begin with "apiVersion: api."; `wardgate compile` makes bundles of policies';
    await refused(new Response("apiVersion: api.cerbos.dev/v1\n"), "not-a-bundle", policy);
    await refused(Uint8Array.of(0x1f, 0x8b, 8, 0), "not-a-bundle", "these bytes are not a bundle");
    await refused(new Uint8Array(), "not-a-bundle", "the bundle is empty");
  });

  it("that breaks off is named, with the reason", async () => {
    const cut = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(bytes.subarray(0, 10));
        controller.error(new DOMException("the page was left", "AbortError"));
      },
    });
    await refused(cut, "not-fetched", "the stream broke off after 10 bytes: the page was left");
    const failed = Promise.reject<Response>(new TypeError("fetch failed", { cause: new Error("no route to host") }));
    await refused(failed, "not-fetched", "cannot fetch the bundle: fetch failed (no route to host)");
  });

  it("that sends only empty chunks is cancelled", async () => {
    const silent = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array()) });
    await refused(silent, "not-fetched", "the stream sends no bytes and does not end");
  });

  it("on a server is named without parts that may be secret", async () => {
    const texts = await served((request, answer) => {
      if (request.url?.startsWith("/cut")) return answer.writeHead(200, { "content-length": "9" }).end("abc").destroy();
      answer.statusCode = 404;
      return answer.end();
    }, async (address) => {
      const wrong = new URL("/policies?token=secret", address);
      const cut = new URL("/cut?token=secret", address);
      return Promise.all([wrong, cut].map((source) => failure(source).then(({ code, message }) => `${code}: ${message}`)));
    });
    expect(texts[0]).toMatch(/^not-fetched: http:\/\/127\.0\.0\.1:\d+\/policies is not there: found 404 Not Found$/);
    expect(texts[1]).toMatch(/^not-fetched: /);
    expect(texts.join()).not.toContain("secret");
  });

  it("that is no file is named", async () => {
    await refused(new URL("file:///no/such/file"), "not-fetched", "cannot read file:///no/such/file: ENOENT");
    await refused(pathToFileURL(tmpdir()), "not-fetched", "EISDIR");
  });

  it("of the wrong kind is a TypeError", async () => {
    const used = new Response(bytes);
    await used.arrayBuffer();
    const locked = new Blob([bytes]).stream();
    locked.getReader();
    const wrong: readonly (readonly [unknown, string])[] = [
      [undefined, "a bundle must be a Uint8Array, an ArrayBuffer, a Response, a promise of one of these, a URL or a stream of bytes, found undefined"],
      ["https://example.com/bundle", "found string; an address is written `new URL(address)`"],
      ["policies.wardgate", 'a path is written `await readFile("policies.wardgate")` in Node, or `new URL("policies.wardgate", import.meta.url)` beside'],
      ["C:\\policies.wardgate", 'a path is written `await readFile("C:\\\\policies.wardgate")` in Node'],
      ["a".repeat(100), "a path is written `await readFile(path)` in Node"],
      ["WARDGATE\u0001", "found string of its content; read the file as bytes, without an encoding"],
      ["apiVersion: x\n", "found string of several lines; `wardgate compile` makes bundles of policies"],
      ["", "or a stream of bytes, found string"],
      [new Blob([bytes]), "found Blob; write `await blob.arrayBuffer()`"],
      [new DataView(bytes.buffer), "found DataView; write `new Uint8Array(view.buffer, "],
      [Readable.from([bytes]), "found object; write `Readable.toWeb(stream)`"],
      [Promise.resolve("policies.wardgate"), "a promise must be of bytes or a Response, found one of string; a path is written"],
      [pieces("text" as never), "the stream must be of bytes, found string"],
      [used, "the body of the response has been read before"],
      [locked, "the stream is locked by another reader"],
    ];
    for (const [source, message] of wrong) {
      await expect(open(source as BundleArrival, { trust: "unsigned" })).rejects.toThrow(TypeError);
      if (source !== used && !(source instanceof ReadableStream)) {
        await expect(open(source as BundleArrival, { trust: "unsigned" })).rejects.toThrow(message);
      }
    }
  });

  it("that is not at hand is a TypeError for `openSync` and `reload`", async () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [Promise.resolve(bytes), "found Promise; await it first"],
      [file(bytes), "found URL; read its bytes first"],
      ["policies.wardgate", 'found string; a path is written `readFileSync("policies.wardgate")` in Node'],
      [undefined, "found undefined"],
    ];
    using pdp = openSync(bytes, { trust: "unsigned" });
    for (const [source, message] of wrong) {
      const expected = new TypeError(`a bundle must be a Uint8Array or an ArrayBuffer, ${message}`).message;
      expect(() => openSync(source as Uint8Array, { trust: "unsigned" })).toThrow(expected);
      expect(() => pdp.reload(source as Uint8Array)).toThrow(expected);
    }
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("that fails does not matter where the options are wrong", async () => {
    // No other code handles these promises: unhandled they would end the process.
    const failing = Promise.reject<Response>(new Error("lost"));
    await expect(open(failing, {} as never)).rejects.toThrow("option `trust` is missing");
    const code = Promise.reject<Response>(new Error("lost"));
    await expect(open(bytes, { trust: "nobody" as never, code })).rejects.toThrow(RangeError);
  });
});

async function failure(source: BundleArrival, maxBytes = 100_000): Promise<WardgateError> {
  const error = await open(source, { trust: "unsigned", maxBytes }).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(WardgateError);
  return error as WardgateError;
}

async function refused(source: BundleArrival, code: string, message: string, maxBytes?: number): Promise<void> {
  const error = await failure(source, maxBytes);
  expect([error.code, error.message]).toEqual([code, expect.stringContaining(message)]);
}

function pieces(...all: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const left = all.values();
  return new ReadableStream({
    pull(controller) {
      const { done, value } = left.next();
      return done === true ? controller.close() : controller.enqueue(value);
    },
  });
}

/** Returns the same response as an object without a class. */
function response({ ok, status, statusText, url, bodyUsed, headers, body }: Response): BundleArrival {
  return { ok, status, statusText, url, bodyUsed, headers, body, arrayBuffer: () => Promise.reject(new Error("unused")) };
}

function file(content: Uint8Array): URL {
  const name = join(mkdtempSync(join(tmpdir(), "wardgate-")), "bundle");
  writeFileSync(name, content);
  return pathToFileURL(name);
}

async function served<T>(answer: RequestListener, work: (address: URL) => Promise<T>): Promise<T> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  const address = await addressOf(server);
  return work(new URL(address)).finally(() => server.close());
}
