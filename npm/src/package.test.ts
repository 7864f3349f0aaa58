// The published package: its files, its dependencies, and that every form of it loads.
//
// Bundled code must not contain constructs that a strict content security policy forbids, nor await
// at its top level: bundlers make such a module, and all that import it, asynchronous.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { beforeAll, describe, expect, it } from "vitest";

interface Manifest {
  readonly exports: { readonly [entry: string]: unknown };
  readonly imports: { readonly [entry: string]: unknown };
  readonly dependencies?: unknown;
  readonly sideEffects: unknown;
}

const home = new URL("../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", home), "utf8")) as Manifest;
const targets = [manifest.exports, manifest.imports].flatMap(leaves);
/**
 * The entries that are programs, by their import names; the program of workers is for bundlers
 * only.
 */
const entries = Object.keys(manifest.exports)
  .filter((entry) => entry !== "./pool-worker")
  .filter((entry) => leaves(manifest.exports[entry]).every((target) => /^\.\/(cjs\/)?dist\/.*\.js$/.test(target)))
  .map((entry) => entry.replace(".", "wardgate"));

describe("the package", () => {
  let files: readonly string[];
  beforeAll(() => {
    const listed = node("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"]);
    files = (JSON.parse(listed) as [{ files: { path: string }[] }])[0].files.map(({ path }) => path);
  });

  it("has the files of its entries, its licence, and no tests or sources", () => {
    for (const target of targets.filter((target) => !target.includes("*"))) expect(files).toContain(target.slice(2));
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "wasm/wardgate_nosimd_bg.wasm"]));
    expect(files.filter((path) => !/^(LICENSE|README\.md|package\.json|(cjs|dist|wasm)\/.*)$/.test(path))).toEqual([]);
    expect(files.filter((path) => /test|fixture|(?<!\.d)\.ts$/.test(path.replace("requests", "")))).toEqual([]);
  });

  it("has no dependencies, and no side effects on import", () => {
    expect([manifest.dependencies, manifest.sideEffects]).toEqual([undefined, false]);
  });

  it("neither evaluates text as code nor awaits at its top level", () => {
    const programs = files.filter((path) => path.endsWith(".js"));
    expect(programs.length).toBeGreaterThan(100);
    for (const path of programs) {
      const text = readFileSync(new URL(path, home), "utf8").replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, "");
      // The glue names functions in messages: a name right after a backtick is text, not a call.
      expect([path, text.match(/\beval\b|(?<!`)\bFunction\b\s*\(|^await\b|^(const|let|var)\b.*=\s*await\b/m)]).toEqual([path, null]);
    }
  });
});

describe("every entry", () => {
  it("is found", () => {
    expect(entries).toEqual(expect.arrayContaining(["wardgate", "wardgate/accessors", "wardgate/compiler"]));
  });

  const load = `
    const { createRequire } = await import("node:module");
    const require = createRequire(process.cwd() + "/here.js");
    const same = [];
    for (const entry of ${JSON.stringify(entries)}) {
      const [required, imported] = [require(entry), await import(entry)];
      const names = (it) => Object.keys(it).filter((name) => name !== "__esModule").sort().join();
      if (names(required) !== names(imported)) throw new Error(entry + " has " + names(required));
      same.push(Object.keys(imported).every((name) => required[name] === imported[name]));
    }
    console.log(same.every(Boolean), same.some(Boolean));
  `;

  it("is one package for import and require, in a Node that can require modules", () => {
    expect(node(process.execPath, ["--input-type=module", "--eval", load])).toBe("true true\n");
  });

  it("is a package of its own for require, in a Node that cannot", () => {
    const words = ["--no-experimental-require-module", "--input-type=module", "--eval", load];
    expect(node(process.execPath, words)).toBe("false false\n");
  });
});

describe("the form for require", () => {
  const decide = `
    const { readFileSync } = require("node:fs");
    const { pathToFileURL } = require("node:url");
    const { hash, open, openSync, WardgateError } = require("wardgate");
    const bundle = readFileSync("fixtures/album.bundle");
    const request = { principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id: "a1" }, action: "view" };
    const now = openSync(bundle, { trust: "unsigned" });
    const refused = [() => openSync(bundle.subarray(1), { trust: "unsigned" })].map((open) => {
      try { open(); } catch (error) { return error instanceof WardgateError && error.code; }
    });
    open(pathToFileURL("fixtures/album.bundle"), { trust: "unsigned" }).then((later) => {
      console.log(now.isAllowed(request), later.isAllowed(request), hash(bundle).length, ...refused);
    });
  `;
  const expected = "true true 32 not-a-bundle\n";

  it.each([[[]], [["--no-experimental-require-module"]]])("decides with %j", (flags) => {
    expect(node(process.execPath, [...flags, "--eval", decide])).toBe(expected);
  });

  it("decides beside the other form, and neither disturbs the other", () => {
    const beside = `
      const bundle = require("node:fs").readFileSync("fixtures/album.bundle");
      const closed = require("node:fs").readFileSync("fixtures/closed.bundle");
      import("wardgate").then((imported) => {
        const [one, other] = [require("wardgate"), imported].map(({ openSync }, at) => openSync([bundle, closed][at], { trust: "unsigned" }));
        const principal = { id: "ada", roles: ["user"] };
        const inner = { kind: "album", id: "a2", attr: { owner: "bo" } };
        const attr = { get owner() { return other.isAllowed({ principal, action: "edit", resource: inner }) ? "bo" : "ada"; } };
        const resource = { kind: "album", id: "a1", attr };
        const answers = Array.from({ length: 5 }, () => one.isAllowed({ principal, action: "edit", resource }));
        console.log(...answers, require("wardgate").open === imported.open);
      });
    `;
    const flags = ["--no-experimental-require-module", "--eval", beside];
    expect(node(process.execPath, flags)).toBe("true true true true true false\n");
    expect(node(process.execPath, flags.slice(1))).toBe("true true true true true true\n");
  });
});

it("has a form for require of each file that is not of another runtime", () => {
  const programs = (folder: string): string[] =>
    readdirSync(new URL(folder, home), { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(".js"));
  const [here, required] = [programs("dist"), programs("cjs/dist")];
  const others = here.filter((name) => !required.includes(name));
  expect(others.filter((name) => !/^runtimes\/.*\b(load|port|spawn|wasm)\b/.test(name))).toEqual([]);
});

function leaves(value: unknown): string[] {
  return typeof value === "string" ? [value] : Object.values(value as object).flatMap(leaves);
}

function node(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { cwd: fileURLToPath(home), encoding: "utf8" });
}
