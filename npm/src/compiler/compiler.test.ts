// The compiler through its public API: bundles, diagnostics, options, and files of the wrong kind.

import { describe, expect, it } from "vitest";

import { compile, lint, type CompileOptions, type PolicyFiles } from "./compiler.ts";
import { open } from "../pdp/open.ts";
import { album, fixture, noon, viewing } from "../testing.ts";

const text = fixture("album/album.yaml").toString();
const files = { "album.yaml": text };

describe("compile", () => {
  it("writes the bytes that the command writes", async () => {
    const { bundle, accessors, diagnostics } = await compile(files, { emitAccessors: true });
    expect(Buffer.from(bundle!).equals(album)).toBe(true);
    expect(accessors).toBe(fixture("album.accessors.js").toString());
    expect(diagnostics).toEqual([]);
  });

  it("takes texts and bytes, in an object or a Map", async () => {
    const bytes = new TextEncoder().encode(text);
    const bare = Object.assign(Object.create(null) as Record<string, string>, files);
    const all: PolicyFiles[] = [new Map([["album.yaml", text]]), { "album.yaml": bytes }, { "album.yaml": bytes.buffer }, bare];
    for (const one of all) expect((await compile(one)).bundle).toEqual((await compile(files)).bundle);
  });

  it("writes its options into the bundle", async () => {
    const [created, notBefore, expires] = [new Date(noon + 999), noon, new Date(Date.UTC(2025, 0))];
    const { bundle } = await compile(files, { name: "älbum", revision: 7, created, notBefore, expires, evaluation: "lenient" });
    const { header } = await open(bundle!, { trust: "unsigned", now: noon });
    expect(header).toMatchObject({ name: "älbum", revision: 7, created: noon, notBefore, expires: expires.getTime(), evaluation: "lenient" });
  });

  it("gives the globals to the conditions", async () => {
    const policy = text.replace("R.attr.owner == P.id", 'G.team.names[1] == "ada" && G.at == "2024-05-06T12:00:00.000Z" && G.n == 1.5');
    const globals = { team: new Map([["names", ["bob", "ada"]]]), at: new Date(noon), n: 1.5, nothing: null };
    const { bundle, diagnostics } = await compile({ "album.yaml": policy }, { globals });
    expect(diagnostics).toEqual([]);
    const pdp = await open(bundle!, { trust: "unsigned" });
    expect(pdp.isAllowed(viewing({ request: { action: "edit" } }))).toBe(true);
  });

  it("looks at nothing after it was called", async () => {
    const bytes = new TextEncoder().encode(text);
    const given: Record<string, Uint8Array> = { "album.yaml": bytes };
    const compiling = compile(given);
    bytes.fill(0);
    given["b.yaml"] = bytes;
    expect((await compiling).diagnostics).toEqual([]);
  });

  it("keeps many calls at once apart", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `album-${at}`);
    const all = await Promise.all(names.map((name) => compile(files, { name })));
    const opened = await Promise.all(all.map(({ bundle }) => open(bundle!, { trust: "unsigned" })));
    expect(opened.map(({ header }) => header.name)).toEqual(names);
  });

  it("reports errors in policies instead of throwing", async () => {
    const { bundle, diagnostics } = await compile({ "a/b.yaml": text, "c.yaml": "a: [" });
    expect(bundle).toBeUndefined();
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ severity: "error", code: "syntax", file: "c.yaml" });
  });
});

describe("lint", () => {
  it("finds the errors that compile finds", async () => {
    const wrong = { "a.yaml": text.replace("R.attr.owner", "P.id + 'é😀' != V.owner && R.id"), "b.yaml": text };
    const found = await lint(wrong);
    expect(found).toEqual((await compile(wrong)).diagnostics);
    expect(found.map(({ code }) => code)).toEqual(["undefined-variable", "duplicate-policy"]);
    const [first] = found;
    expect(first).toMatchObject({ file: "a.yaml", line: 16, column: 32, end: { line: 16, column: 39 } });
    expect(first!.text).toContain("16 |           expr: P.id + 'é😀' != V.owner && R.id == P.id\n");
  });

  it("finds suspicious policies that compile", async () => {
    const twice = text.replace("R.attr.owner", "R.id == R.id || R.attr.owner");
    const [found, ...others] = await lint({ "a.yaml": twice });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ severity: "warning", code: "condition-always-true", file: "a.yaml", line: 16 });
    expect((await compile({ "a.yaml": twice })).diagnostics).toEqual([]);
    expect(await lint({ "a.yaml": `# wardgate: allow condition-always-true\n${twice}` })).toEqual([]);
    expect(await lint(files)).toEqual([]);
  });

  it.each([{}, { "readme.md": "#" }, new Map()])("reports that %o has no policies", async (nothing) => {
    expect(await lint(nothing)).toMatchObject([{ code: "no-policies", file: "." }]);
  });

  it("reports the position of bytes that are not text", async () => {
    const [broken] = await lint({ "a.yaml": "a: 1\nb: é\ud83d!" });
    expect(broken).toMatchObject({ code: "syntax", line: 2, column: 5 });
    expect(await lint({ "a.yaml": Uint8Array.of(0x61, 0xff) })).toMatchObject([{ code: "syntax", line: 1, column: 2 }]);
  });

  it("refuses a file that is too large, as text and as bytes", async () => {
    for (const huge of [" ".repeat(2 ** 25 + 9), "é".repeat(2 ** 24 + 9), new Uint8Array(2 ** 25 + 9)]) {
      expect(await lint({ "a.yaml": huge })).toMatchObject([{ code: "limit", found: "33554433 bytes" }]);
    }
  });
});

describe("an argument of the wrong kind", () => {
  const name = "a.yaml";
  const kinds: readonly (readonly [unknown, string])[] = [
    [undefined, "files must be an object or a Map of paths and contents, found undefined"],
    [null, "files must be an object or a Map of paths and contents, found null"],
    [[text], "files must be an object or a Map of paths and contents, found array"],
    [text, "files must be an object or a Map of paths and contents, found string"],
    [Promise.resolve(files), "files must be an object or a Map of paths and contents, found Promise"],
    [{ [name]: 1 }, "file `a.yaml` must be a string, a Uint8Array or an ArrayBuffer, found number"],
    [{ [name]: new Date() }, "file `a.yaml` must be a string, a Uint8Array or an ArrayBuffer, found Date"],
    [{ [name]: { text } }, "file `a.yaml` must be a string, a Uint8Array or an ArrayBuffer, found object"],
    [new Map([[1, text]]), "the path of a file must be a string, found number"],
  ];

  it.each(kinds)("is a TypeError: files %o", async (wrong, message) => {
    await expect(compile(wrong as PolicyFiles)).rejects.toThrow(new TypeError(message));
    await expect(lint(wrong as PolicyFiles)).rejects.toThrow(new TypeError(message));
  });

  const known = "evaluation, lenientScopeSearch, schemaEnforcement, defaultVersion, globals, code, name, revision, created, notBefore, expires, emitAccessors";
  const options: readonly (readonly [unknown, Error])[] = [
    [null, new TypeError("options must be an object, found null")],
    [[], new TypeError("options must be an object, found array")],
    [{ strict: true }, new TypeError(`unknown option \`strict\`, expected one of ${known}`)],
    [{ evaluation: "loose" }, new RangeError("option `evaluation` must be one of strict, lenient, found `loose`")],
    [{ evaluation: true }, new TypeError("option `evaluation` must be a string, found boolean")],
    [{ schemaEnforcement: "" }, new RangeError("option `schemaEnforcement` must be one of none, warn, reject, found ``")],
    [{ lenientScopeSearch: 1 }, new TypeError("option `lenientScopeSearch` must be true or false, found number")],
    [{ defaultVersion: "v 1" }, new RangeError("option `defaultVersion` must be of letters, digits and `_`")],
    [{ name: "a\n" }, new RangeError("option `name` must have at most 256 bytes and no control characters")],
    [{ name: "é".repeat(129) }, new RangeError("option `name` must have at most 256 bytes and no control characters")],
    [{ name: "\ud800" }, new RangeError("option `name` must be Unicode")],
    [{ revision: 1.5 }, new RangeError("option `revision` must be a whole number from 0 to 9007199254740991, found 1.5")],
    [{ revision: 1n }, new TypeError("option `revision` must be a number, found bigint")],
    [{ created: "2024" }, new TypeError("option `created` must be a number or a Date, found string")],
    [{ created: -1 }, new RangeError("option `created` must be a time after 1970, found -1")],
    [{ expires: new Date(NaN) }, new RangeError("option `expires` must be a time after 1970, found NaN")],
    [{ notBefore: 5000, expires: 5999 }, new RangeError("option `expires` must be later than `notBefore`")],
    [{ emitAccessors: "yes" }, new TypeError("option `emitAccessors` must be true or false, found string")],
    [{ globals: [] }, new TypeError("option `globals` must be an object, found array")],
    [{ globals: { a: NaN } }, new RangeError("option `globals`.a must be a finite number, found NaN")],
  ];

  it.each(options)("is an error: options %o", async (wrong, error) => {
    await expect(compile(files, wrong as CompileOptions)).rejects.toThrow(error);
  });

  it("is a bundle label for lint", async () => {
    await expect(lint(files, { name: "a" } as object)).rejects.toThrow("unknown option `name`");
  });

  it("is a path that is no text", async () => {
    await expect(compile({ "\ud800": text })).rejects.toThrow(RangeError);
  });

  it("does not hide an exception of the caller", async () => {
    const error = new Error("of the caller");
    const getter = { get "a.yaml"(): string { throw error; } };
    await expect(compile(getter)).rejects.toBe(error);
  });
});
