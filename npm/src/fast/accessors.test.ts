// Accessor modules: the template of the command, and a module that it has filled.

import { readFileSync } from "node:fs";

import { describe, expect, it, vi } from "vitest";

import * as entry from "./accessors.ts";
import { accessorTemplate as template, TEMPLATE } from "../../accessor-template.mjs";
import { LOOPS } from "./generated/column-loops.ts";
import { open } from "../pdp/open.ts";
import { BY_NAME } from "./read-sites.ts";
import { accessorsOf, album, atNoon, closed, editing, ofCode, viewing } from "../testing.ts";

const accessors = await accessorsOf("album");

/** Returns the text of a source file of the package. */
function source(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

describe("the template of the compiler", () => {
  it("is the function of this package", () => {
    expect(readFileSync(TEMPLATE, "utf8")).toBe(template());
  });

  it("uses only what the entry offers", () => {
    const used = [...template().matchAll(/^const \{ ([^}]+) \} = entry;$/gm)].flatMap(([, list]) => list!.split(", "));
    expect(used).toContain("decideShort");
    expect(Object.keys(entry)).toEqual(expect.arrayContaining(used));
    expect(template()).toContain(`export const format = ${entry.FORMAT};`);
  });

  it("has the loop of the encoder, and so has the encoder of prepared requests", () => {
    const loop = (text: string): string => /  frame\.used = ARENA_START;[^]+?\n  const answer = plan\.isShort/.exec(text)![0];
    expect(loop(source("generated/encode-resource.ts"))).toBe(loop(source("generated/encode-request.ts")));
  });
});

describe("the loops of a batch", () => {
  const [head, loops] = /^([^]+?): readonly [^\n]+ = \[\n([^]+?)\n\];\n/m.exec(source("generated/column-loops.ts"))!.slice(1);
  const places = Array.from({ length: BY_NAME }, (_, at) => `n${at}`);

  it("are the same for every site but for its name", () => {
    const bodies = loops!.split(/^  (?=\(f, at\) => \{$)/m).slice(1);
    const names = bodies.map((body) => /const name = (n\d+);/.exec(body)![1]);
    expect(names).toEqual(places);
    expect(new Set(bodies.map((body, at) => body.trimEnd().replace(`= ${places[at]};`, "= PLACE;"))).size).toBe(1);
  });

  it("read the sites of the encoder, in the order of their numbers", () => {
    const imported = /import \{([^}]+)\} from "\.\/site-names\.ts";/;
    const listed = (text: string): string[] => imported.exec(text)![1]!.split(",").map((name) => name.trim()).filter(Boolean);
    expect(listed(head!)).toEqual(places);
    expect(listed(source("generated/encode-request.ts"))).toEqual(places);
    const cases = [...source("generated/encode-request.ts").matchAll(/case (\d+): if \((n\d+) in OBJECT\) return UNSURE; v = o\[(n\d+)\]; break;/g)];
    expect(cases.map(([, at, asked, read]) => [Number(at), asked, read])).toEqual(places.map((name, at) => [at, name, name]));
    expect(LOOPS.length).toBe(BY_NAME);
  });
});

describe("an accessor module", () => {
  it("belongs to its bundle", async () => {
    const opening = open(closed, { trust: "unsigned", accessors });
    await expect(opening).rejects.toThrow(/^the accessors were emitted for another bundle: /);
    await expect(opening).rejects.toEqual(ofCode("accessors"));
  });

  it("is refused by another copy of the package", async () => {
    vi.resetModules();
    const copy = await import("../pdp/open.ts");
    const opening = copy.open(album, { trust: "unsigned", accessors });
    await expect(opening).rejects.toThrow(/^the accessors import another copy of the package$/);
    await expect(opening).rejects.toEqual(ofCode("accessors"));
  });

  it("changes no answer", async () => {
    const [plain, fast] = [await open(album, atNoon), await open(album, { ...atNoon, accessors })];
    const owners = ["ada", "eve", 7, null, undefined].map((owner) => ({ owner }));
    const attrs = [undefined, {}, ...owners, new Map([["owner", "ada"]])];
    for (const attr of attrs) {
      for (const action of ["view", "edit", "echo", "share", "burn"]) {
        for (let time = 0; time < 3; time += 1) {
          const request = viewing({ resource: { attr }, request: { action } });
          expect(fast.isAllowed(request)).toBe(plain.isAllowed(request));
        }
      }
    }
  });

  it("goes on after a reload", async () => {
    const pdp = await open(album, { trust: "unsigned", accessors });
    pdp.reload(closed);
    expect(pdp.isAllowed(viewing())).toBe(false);
    pdp.reload(album);
    expect(pdp.isAllowed(editing({ owner: "ada" }))).toBe(true);
  });
});
