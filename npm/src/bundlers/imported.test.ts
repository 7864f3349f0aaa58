// What an import of policies gives, in the words of the module that a bundler makes.

import { describe, expect, it } from "vitest";

import { album, closed, viewing } from "../testing.ts";
import { imported, type HotData } from "./imported.ts";

const text = (bundle: Uint8Array): string => Buffer.from(bundle).toString("base64");

describe("imported policies", () => {
  it("are a bundle and its trust, and open it", async () => {
    const policies = imported(text(album), "unsigned");
    expect([Buffer.from(policies.bundle).equals(album), policies.trust]).toEqual([true, "unsigned"]);
    using pdp = await policies.open();
    expect(pdp.isAllowed(viewing())).toBe(true);
  });

  it("take the options of open", async () => {
    await expect(imported(text(album), "unsigned").open({ name: "other" })).rejects.toMatchObject({ code: "wrong-name" });
  });

  it("hand a new bundle to every open PDP, and tell its listeners", async () => {
    const hot: HotData = {};
    const policies = imported(text(album), "unsigned", hot);
    const [first, second, disposed] = [await policies.open(), await policies.open(), await policies.open()];
    disposed.dispose();
    let reloads = 0;
    first.onReload(() => (reloads += 1));
    expect(imported(text(closed), "unsigned", hot)).toBe(policies);
    expect([first, second].map((pdp) => pdp.isAllowed(viewing()))).toEqual([false, false]);
    expect(reloads).toBe(1);
    expect(Buffer.from(policies.bundle).equals(closed)).toBe(true);
  });

  it("hand a bundle that comes while one is opened to the PDP that is opening", async () => {
    const hot: HotData = {};
    const opening = imported(text(album), "unsigned", hot).open();
    imported(text(closed), "unsigned", hot);
    using pdp = await opening;
    expect(pdp.isAllowed(viewing())).toBe(false);
  });
});
