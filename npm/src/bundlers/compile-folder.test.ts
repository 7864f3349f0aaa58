// Compiling a folder to a module: what each plug-in does, without a bundler.

import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { afterEach, describe, expect, it, vi } from "vitest";

import { open } from "../pdp/open.ts";
import { fixture } from "../testing.ts";
import { readBundlerOptions } from "./bundler-options.ts";
import { compileFolder, hotModuleText, moduleText } from "./compile-folder.ts";
import { PolicyError } from "./policy-error.ts";
import { hasFile } from "./policy-folder.ts";
import { albumFor, BROKEN, project, viewAs, write } from "./testing-bundlers.ts";

const KEY = "trust/release.jwk";
const keyPath = new URL(`../../fixtures/${KEY}`, import.meta.url).pathname;
const keyText = fixture(KEY).toString();

afterEach(() => vi.unstubAllEnvs());

/** Compiles the folder `policies` of a project. */
async function compiled(files: Readonly<Record<string, string>>, options: object = {}, isProduction = false) {
  const root = project(files);
  return { root, ...(await compileFolder(join(root, "policies"), readBundlerOptions(options), isProduction)) };
}

describe("compileFolder", () => {
  it("compiles all files of a folder, also below it, and no others", async () => {
    const { bundle, trust, warning } = await compiled({
      "policies/a/album.yaml": albumFor("user"),
      "policies/schema.txt": "no policy",
      "other/b.yaml": BROKEN,
    });
    using pdp = await open(bundle, { trust: "unsigned" });
    expect([pdp.isAllowed(viewAs("user")), pdp.isAllowed(viewAs("guest")), trust, warning]).toEqual([true, false, "unsigned", undefined]);
  });

  it("hands its options to the compiler", async () => {
    const { bundle } = await compiled({ "policies/a.yaml": albumFor("user") }, { compile: { name: "pages", revision: 3 } });
    using pdp = await open(bundle, { trust: "unsigned" });
    expect(pdp.header).toMatchObject({ name: "pages", revision: 3 });
  });

  it("follows a link inside of the folder, and none that leads out of it", async () => {
    const root = project({ "policies/real/a.yaml": albumFor("user"), "secret.yaml": BROKEN });
    symlinkSync(join(root, "secret.yaml"), join(root, "policies/out.yaml"));
    await expect(compileFolder(join(root, "policies"), readBundlerOptions({}), false)).resolves.toMatchObject({ trust: "unsigned" });
  });

  it("waits for the text of a file that a program has emptied to save it", async () => {
    const root = project({ "policies/a.yaml": "" });
    const compiling = compileFolder(join(root, "policies"), readBundlerOptions({}), false);
    setTimeout(() => write(root, "policies/a.yaml", albumFor("user")), 30);
    await expect(compiling).resolves.toMatchObject({ trust: "unsigned" });
  });

  it("writes types beside the folder if an option says so", async () => {
    const { root } = await compiled({ "policies/a.yaml": albumFor("user") }, { types: true });
    const text = readFileSync(join(root, "policies.d.ts"), "utf8");
    expect(text).toContain("export interface Policies {");
    expect(text).toContain("declare const policies: ImportedPolicies<Policies>;\nexport default policies;\n");
  });
});

/** A policy with a derived role of the file `roles`, and that file with its name misspelt. */
const IMPORTING = albumFor("user").replace("version: default", "version: default\n  importDerivedRoles: [roles]").replace("roles: [user]", "derivedRoles: [owner]");
const UNNAMED = "apiVersion: api.cerbos.dev/v1\nderivedRoles:\n  nam: roles\n  definitions:\n    - { name: owner, parentRoles: [user] }\n";

describe("an error", () => {
  const cases: readonly (readonly [name: string, files: Record<string, string>, message: RegExp, place: object | undefined])[] = [
    ["in a policy has its place", { "policies/a.yaml": BROKEN }, /\/policies\/a\.yaml:6:\d+: unknown name: expected one of `EFFECT_ALLOW`, `EFFECT_DENY`, found `ALOW` \[parse\]$/, { line: 6 }],
    ["in two policies has both places", { "policies/a.yaml": BROKEN, "policies/b/c.yaml": "a: [" }, /a\.yaml:6:.*\n.*b\/c\.yaml:\d+:\d+: .*\[syntax\]$/, { line: 6 }],
    ["in a file that others name comes before theirs", { "policies/a.yaml": IMPORTING, "policies/z.yaml": UNNAMED }, /^.*z\.yaml:3:.*\n.*\[missing-import\]\n.*\[unknown-derived-role\]$/, { line: 3 }],
    ["of an empty folder names it", { "policies/readme.md": "#" }, /\/policies: .*\[no-policies\]$/, {}],
    ["of a missing folder names it", {}, /the folder `.*\/policies` of policies cannot be read: ENOENT/, undefined],
  ];

  it.each(cases)("%s", async (_, files, message, place) => {
    const error = (await compiled(files).catch((thrown: unknown) => thrown)) as PolicyError;
    expect(error).toBeInstanceOf(PolicyError);
    expect(error.message).toMatch(message);
    if (place === undefined) expect(error.place).toBeUndefined();
    else expect(error.place).toMatchObject(place);
  });

  it("shows the line with a caret", async () => {
    const error = (await compiled({ "policies/a.yaml": BROKEN }).catch((thrown: unknown) => thrown)) as PolicyError;
    expect(error.frame).toMatch(/effect: ALOW }\n\s*\| +\^/);
  });
});

describe("a production build", () => {
  const files = { "policies/a.yaml": albumFor("user") };

  it("says what it means that it has no key", async () => {
    vi.stubEnv("WARDGATE_SIGNING_KEY", "");
    const { trust, warning } = await compiled(files, {}, true);
    expect([trust, warning]).toEqual(["unsigned", expect.stringMatching(/are not signed.*`key`.*`WARDGATE_SIGNING_KEY`/)]);
  });

  const { priv, ...publicKey } = JSON.parse(keyText) as { priv: string };
  const sources: readonly (readonly [name: string, options: object, variable: string])[] = [
    ["the option", { key: keyPath }, ""],
    ["a path in the environment", {}, keyPath],
    ["a key in the environment", {}, keyText],
    ["the option before the environment", { key: keyPath }, "{}"],
  ];

  it.each(sources)("signs by %s, and has nothing of the private key", async (_, options, variable) => {
    vi.stubEnv("WARDGATE_SIGNING_KEY", variable);
    const one = await compiled(files, options, true);
    expect([one.trust, one.warning]).toEqual([publicKey, undefined]);
    using pdp = await open(one.bundle, { trust: one.trust as never });
    expect(pdp.isAllowed(viewAs("user"))).toBe(true);
    for (const text of [moduleText(one), hotModuleText(one, "import.meta.hot")]) expect(text).not.toContain(priv);
  });

  const wrong: readonly (readonly [name: string, value: string, message: RegExp])[] = [
    ["a missing file", "/nowhere/release.jwk", /^`WARDGATE_SIGNING_KEY` cannot sign the policies: it names no file that can be read \(ENOENT\)/],
    ["no JSON", `{ "priv": "${priv}"`, /expected the JSON Web Key of a private key/],
    ["a public key", JSON.stringify(publicKey), /expected the JSON Web Key of a private key/],
    ["a key for seals", JSON.stringify({ kty: "oct", k: priv, priv }), /expected a JSON Web Key with `kty` AKP/],
    ["a key of the wrong length", JSON.stringify({ ...publicKey, priv: `${priv}AAAA` }), /cannot be used as a key|cannot sign/],
  ];

  it.each(wrong)("refuses %s, without a word of it", async (_, value, message) => {
    vi.stubEnv("WARDGATE_SIGNING_KEY", value);
    const error = (await compiled(files, {}, true).catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toMatch(message);
    expect(`${error.message}${error.stack}`).not.toContain(priv);
  });
});

describe("readBundlerOptions", () => {
  const wrong: readonly (readonly [options: unknown, message: string])[] = [
    [null, "options must be an object, found null"],
    [{ folder: "policies" }, "unknown option `folder`"],
    [{ folders: "policies" }, "option `folders` must be an array, found string"],
    [{ folders: ["src/policies"] }, "must have the names of folders, without their paths, found `src/policies`"],
    [{ key: 7 }, "option `key` must be a string, found number"],
    [{ types: "policies.d.ts" }, "option `types` must be true or false"],
    [{ compile: { revison: 7 } }, "unknown option `revison`"],
  ];

  it.each(wrong)("refuses %j", (options, message) => {
    expect(() => readBundlerOptions(options)).toThrow(message);
  });
});

describe("hasFile", () => {
  const cases: readonly (readonly [file: string, isInside: boolean])[] = [
    ["/app/policies/a.yaml", true],
    ["/app/policies/b/_schemas/a.JSON", true],
    ["/app/policies/a.txt", false],
    ["/app/policies.yaml", false],
    ["/app/other/a.yaml", false],
  ];

  it.each(cases)("of %s is %s", (file, isInside) => expect(hasFile("/app/policies", file)).toBe(isInside));
});

describe("a folder", () => {
  it("that is made after a file was read is compiled too", async () => {
    const root = project({ "policies/a.yaml": albumFor("user") });
    mkdirSync(join(root, "policies/new"));
    write(root, "policies/new/b.yaml", BROKEN);
    await expect(compileFolder(join(root, "policies"), readBundlerOptions({}), false)).rejects.toThrow("new/b.yaml:6");
  });
});
