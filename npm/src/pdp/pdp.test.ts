// The life of a PDP: opening, reloading, disposing.

import { describe, expect, it, vi } from "vitest";

import { open } from "./open.ts";
import { album, closed, ofCode, openAlbum, viewing } from "../testing.ts";

const bad = new TextEncoder().encode("bad");

describe("opening", () => {
  it("takes bytes in either form", async () => {
    const buffer = album.buffer.slice(album.byteOffset, album.byteOffset + album.byteLength) as ArrayBuffer;
    const pdp = await open(buffer, { trust: "unsigned" });
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("refuses what is not bytes, and bytes that are no bundle", async () => {
    await expect(open("album" as never, { trust: "unsigned" })).rejects.toThrow(TypeError);
    await expect(open(bad, { trust: "unsigned" })).rejects.toEqual(ofCode("not-a-bundle"));
  });

  it("keeps bundles apart", async () => {
    const [one, other] = [await openAlbum(), await open(closed, { trust: "unsigned" })];
    expect([one.isAllowed(viewing()), other.isAllowed(viewing())]).toEqual([true, false]);
  });
});

describe("reloading", () => {
  it("replaces the policies at once", async () => {
    const pdp = await openAlbum();
    pdp.reload(closed);
    expect(pdp.isAllowed(viewing())).toBe(false);
  });

  it("keeps the last good bundle when the new one is refused", async () => {
    const pdp = await openAlbum();
    expect(() => pdp.reload(bad)).toThrow(ofCode("not-a-bundle"));
    expect(pdp.isAllowed(viewing())).toBe(true);
  });
});

describe("examining", () => {
  it("returns the header of a good bundle, and puts nothing into use", async () => {
    const pdp = await openAlbum();
    const [before, offered] = [pdp.header, pdp.examine(closed)];
    expect(offered.content).not.toBe(before.content);
    expect([pdp.header, pdp.isAllowed(viewing())]).toEqual([before, true]);
    pdp.reload(closed);
    expect(pdp.header).toEqual(offered);
  });

  it("refuses bundles that a reload would refuse", async () => {
    const pdp = await openAlbum();
    expect(() => pdp.examine(new Uint8Array())).toThrow(ofCode("not-a-bundle"));
    expect(() => pdp.examine("album" as never)).toThrow(TypeError);
  });
});

describe("listening to reloads", () => {
  it("calls every listener for each bundle, until it is removed", async () => {
    const pdp = await openAlbum();
    const seen: string[] = [];
    const hear = ({ content }: { readonly content: string }): void => void seen.push(content);
    const [stop, stopOther] = [pdp.onReload(hear), pdp.onReload(hear)];
    pdp.reload(closed);
    stop();
    expect(() => pdp.reload(new Uint8Array())).toThrow(ofCode("not-a-bundle"));
    pdp.reload(album);
    stopOther();
    pdp.reload(closed);
    const [shut, shown] = [pdp.header.content, pdp.examine(album).content];
    expect(seen).toEqual([shut, shut, shown]);
  });

  it("reports the exception of a listener, and goes on", async () => {
    const pdp = await openAlbum();
    const reported: unknown[] = [];
    vi.stubGlobal("reportError", (error: unknown) => reported.push(error));
    const [now, later, listener] = [new Error("now"), new Error("later"), vi.fn()];
    pdp.onReload(() => { throw now; });
    pdp.onReload(() => Promise.reject(later));
    pdp.onReload(listener);
    pdp.reload(closed);
    await new Promise(setImmediate);
    expect(listener).toHaveBeenCalledWith(pdp.header);
    expect(reported).toEqual([now, later]);
    expect(() => pdp.onReload("no" as never)).toThrow(TypeError);
    vi.unstubAllGlobals();
  });
});

describe("disposing", () => {
  it("makes every use an error, and may be done twice", async () => {
    const pdp = await openAlbum();
    pdp.dispose();
    pdp[Symbol.dispose]();
    const { principal, action } = viewing();
    for (const use of [
      () => pdp.isAllowed(viewing()),
      () => pdp.check({ ...viewing(), actions: [] }),
      () => pdp.explain(viewing()),
      () => pdp.reload(album),
      () => pdp.examine(album),
      () => pdp.onReload(() => {}),
      () => pdp.isAllowedMany([]),
      () => pdp.checkMany([]),
      () => pdp.filter({ principal, action, resources: [] }),
      () => pdp.for(principal),
      () => pdp.prepare({ kind: "album", action }),
    ]) {
      expect(use, String(use)).toThrow(ofCode("disposed"));
    }
  });

  it("leaves other PDPs alone, also those that get its handle", async () => {
    const [first, second] = [await openAlbum(), await openAlbum()];
    first.dispose();
    const third = await open(closed, { trust: "unsigned" });
    first.dispose();
    expect([second.isAllowed(viewing()), third.isAllowed(viewing())]).toEqual([true, false]);
  });
});
