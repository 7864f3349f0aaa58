// The published package: its files, its dependencies, and that it loads by `import` and `require`.
//
// It is ES modules only: a Node from 20.19 on requires them too. Each entry is one file for each
// runtime. A program may use several entries, and state and classes exist once in it.
//
// Bundled code must not contain constructs that a strict content security policy forbids, nor await
// at its top level: bundlers make such a module, and all that import it, asynchronous.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { build } from "rolldown";
import { beforeAll, describe, expect, it } from "vitest";

interface Manifest {
  readonly exports: { readonly [entry: string]: unknown };
  readonly dependencies?: unknown;
  readonly sideEffects: unknown;
}

const home = new URL("../", import.meta.url);
const manifest = JSON.parse(readFileSync(new URL("package.json", home), "utf8")) as Manifest;
const targets = leaves(manifest.exports);
const programs = [...new Set(targets.filter((target) => target.endsWith(".js")))].sort();
/** `wardgate/wasm` has no source to map: it is the name of a module. */
const mapped = programs.filter((target) => !target.endsWith("/wasm.js"));
/**
 * The entries that are programs, by their import names; the program of workers is for bundlers
 * only, and `imports` has declarations only.
 */
const entries = Object.keys(manifest.exports)
  .filter((entry) => entry !== "./pool-worker" && entry !== "./imports")
  .filter((entry) => leaves(manifest.exports[entry]).every((target) => /^\.\/dist\//.test(target)))
  .map((entry) => entry.replace(".", "wardgate"));

describe("the package", () => {
  let files: readonly string[];
  beforeAll(() => {
    const listed = run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel=error"]);
    files = (JSON.parse(listed) as [{ files: { path: string }[] }])[0].files.map(({ path }) => path);
  });

  it("has the files of its entries, its licence, and no tests or sources", () => {
    for (const target of targets.filter((target) => !target.includes("*"))) expect(files).toContain(target.slice(2));
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "wasm/wardgate_nosimd_bg.wasm"]));
    expect(files.filter((path) => !/^(LICENSE|README\.md|package\.json|(dist|wasm)\/.*|bin\/wardgate\.(mjs|wasm))$/.test(path))).toEqual([]);
    expect(files.filter((path) => /test|fixture|(?<!\.d)\.ts$/.test(path.replace("requests", "")))).toEqual([]);
  });

  it("has no dependencies, and no side effects on import", () => {
    expect([manifest.dependencies, manifest.sideEffects]).toEqual([undefined, false]);
  });

  it("neither evaluates text as code nor awaits at its top level", () => {
    for (const path of files.filter((path) => path.endsWith(".js"))) {
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
      same.push(Object.keys(imported).every((name) => required[name] === imported[name]));
    }
    console.log(same.length > 0 && same.every(Boolean));
  `;

  it("is one module for import and require", () => {
    expect(node(["--input-type=module", "--eval", load])).toBe("true\n");
  });
});

describe("require", () => {
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

  it("gives a package that decides, in CommonJS", () => {
    expect(node(["--eval", decide])).toBe("true true 32 not-a-bundle\n");
  });
});

describe("a file of the package", () => {
  it("is an entry for a runtime, the glue of a module, or a map", () => {
    const built = filesIn("dist").filter((name) => !name.startsWith("dist/types/"));
    const expected = [...programs, ...mapped.map((target) => `${target}.map`)].map((target) => target.slice(2));
    expect(built.sort()).toEqual(expected.sort());
  });

  it.each(programs)("%s imports nothing, or the main entry beside it", (target) => {
    const imported = [...read(target).matchAll(/(?:\bfrom |^import )"(\.[^"]*)"/gm)].map(([, name]) => name!);
    // A plug-in for a bundler runs in Node, beside the compiler.
    if (/\/(vite|webpack)\.js$/.test(target)) return expect(imported).toEqual(["./compiler.js"]);
    const beside = /\/index\.js$|\/dist\/(angular|authzen|cerbos|express|fastify|hono|nest|opentelemetry|ratelimit|react|svelte|trpc|view|vue|[\w-]+\/wasm)\.js$/.test(target) ? [] : ["./index.js"];
    expect(imported.filter((name) => !/\.wasm(\?module)?$/.test(name))).toEqual(beside);
  });

  it.each(mapped)("%s has a map with the text of its sources", (target) => {
    const name = target.split("/").at(-1)!;
    expect(read(target).trimEnd().split("\n").at(-1)).toBe(`//# sourceMappingURL=${name}.map`);
    const { sources, sourcesContent } = JSON.parse(read(`${target}.map`)) as { sources: string[]; sourcesContent: string[] };
    expect(sourcesContent.map((text) => text.length > 0)).toEqual(sources.map(() => true));
    expect(sources.filter((source) => !source.startsWith("../"))).toEqual([]);
  });

  it.each(["WardgateError", "expiryOf"])("leaves %s alone in an app that uses no more", async (name) => {
    const { output } = await build({
      input: fileURLToPath(new URL("dist/browser/index.js", home)),
      plugins: [{ name: "app", transform: (code) => ({ code: code.replace(/^export \{[^}]*\}/m, `export { ${name} }`), map: null }) }],
      output: { minify: true },
      write: false,
    });
    // The glue of the module makes a decoder when it is loaded: 200 bytes.
    expect(output[0].code.length).toBeLessThan(700);
  });

  it("is built for every runtime", () => {
    const forRuntimes = entries.filter((entry) => !/angular|authzen|cerbos|express|fastify|hono|nest|opentelemetry|ratelimit|react|svelte|trpc|view|vite|vue|webpack/.test(entry));
    for (const entry of forRuntimes.map((entry) => entry.replace("wardgate", "."))) {
      const conditions = Object.entries(manifest.exports[entry] as object).filter(([condition]) => condition !== "types");
      expect(conditions.map(([condition]) => condition)).toEqual(["workerd", "edge-light", "deno", "bun", "browser", "node", "default"]);
      const folder = { bun: "node", default: "browser" } as Record<string, string>;
      for (const [condition, target] of conditions) expect(target).toMatch(new RegExp(`^\\./dist/${folder[condition] ?? condition}/`));
    }
  });
});

describe("an entry for every runtime", () => {
  const rows = [...read("../docs/adapters.md").matchAll(/^\| `wardgate\/([\w-]+)` \| ([\d,]+) \|$/gm)].map(([, name, size]) => [name!, Number(size!.replace(",", ""))] as const);

  it("has a row in the table of sizes", () => {
    const common = Object.values(manifest.exports).flatMap((targets) => /^\.\/dist\/([\w-]+)\.js$/.exec((targets as { readonly default?: string }).default ?? "")?.[1] ?? []);
    expect(rows.map(([name]) => name).sort()).toEqual(common.sort());
  });

  it.each(rows)("%s has the size of its row, within a tenth", async (name, size) => {
    const { output } = await build({ input: fileURLToPath(new URL(`dist/${name}.js`, home)), external: /^[\w@]/, output: { minify: true }, write: false, onLog: () => {} });
    const found = gzipSync(output[0].code, { level: 9 }).length;
    expect(Math.abs(found - size) / found, `${found} bytes`).toBeLessThan(0.1);
  });
});

describe("an entry that loads a module", () => {
  const row = /^\| `(wardgate(?:\/[\w-]+)?)` \| ([\d,]+) \| ([\d,]+) \| `(wardgate\w*_bg\.wasm)` \| ([\d,]+) \| ([\d,]+) \|$/gm;
  const rows = [...read("../docs/adapters.md").matchAll(row)].map(([, entry, script, packed, module, ...sizes]) => ({
    entry: entry!,
    module: module!,
    sizes: [script!, packed!, ...sizes].map((text) => Number(text.replaceAll(",", ""))),
  }));
  const pathOf = (entry: string): string => fileURLToPath(new URL(`dist/browser/${entry === "wardgate" ? "index" : entry.slice("wardgate/".length)}.js`, home));

  it("has a row in the table of sizes for each of its modules", () => {
    const modules = (entry: string): readonly string[] => [...new Set([...readFileSync(pathOf(entry), "utf8").matchAll(/wardgate\w*_bg\.wasm/g)].map(([name]) => name))];
    const own = entries.filter((entry) => "browser" in (manifest.exports[entry.replace("wardgate", ".")] as object));
    const loaded = own.flatMap((entry) => modules(entry).map((module) => `${entry} ${module}`));
    expect(rows.map(({ entry, module }) => `${entry} ${module}`).sort()).toEqual(loaded.sort());
  });

  it.each(rows)("$entry has the sizes of its row, within a tenth: $module", async ({ entry, module, sizes }) => {
    const { output } = await build({ input: pathOf(entry), external: /^(\.\/index\.js$|[\w@])/, output: { minify: true }, write: false, onLog: () => {} });
    const found = [Buffer.from(output[0].code), readFileSync(new URL(`wasm/${module}`, home))].flatMap((bytes) => [bytes.length, gzipSync(bytes, { level: 9 }).length]);
    for (const [at, size] of sizes.entries()) expect(Math.abs(found[at]! - size) / size, `${found.join(", ")} bytes`).toBeLessThan(0.1);
  });
});

describe("entries in one program", () => {
  // `load` is the function that loads an entry, and the last lines name the accessors.
  const program = (load: string, accessors: string): string => `
    (async () => {
      const { readFileSync } = await import("node:fs");
      let instances = 0;
      const { Instance } = WebAssembly;
      WebAssembly.Instance = class extends Instance {
        constructor(...given) {
          super(...given);
          instances += 1;
        }
      };
      const [main, compiler, rules, pools, fast] = await Promise.all(
        ["", "/compiler", "/spocp", "/pool", "/accessors"].map((name) => ${load}("wardgate" + name)));
      const codeOf = (error) => error instanceof main.WardgateError && error.code;
      const bundle = readFileSync("fixtures/album.bundle");
      const pdp = main.openSync(bundle, { trust: "unsigned" });
      const pool = await pools.createPool(bundle, { trust: "unsigned", size: 0 });
      console.log(instances, [compiler, rules].every(({ WardgateError }) => WardgateError === main.WardgateError));
      pool.close();
      console.log(await pool.filter({}).catch(codeOf), await pools.createPool(new Uint8Array(), { trust: "unsigned" }).catch(codeOf));
      console.log(await compiler.compile({ "a.yaml": "" }, { code: new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)) }).catch(codeOf));
      const ruled = main.openSync(readFileSync("fixtures/spocp.bundle"), { trust: "unsigned", spocp: rules.spocp });
      try { ruled.spocp.query("("); } catch (error) { console.log(codeOf(error)); }
      ${accessors}
    })();
  `;
  const accessed = `
    const accessors = await import("./fixtures/album.accessors.js");
    const request = { principal: { id: "ada", roles: ["user"] }, resource: { kind: "album", id: "a1" }, action: "view" };
    console.log(main.openSync(bundle, { trust: "unsigned", accessors }).isAllowed(request));
  `;
  // A module of accessors is an ES module, and imports the package as one.
  const sameFunctions = `console.log(fast.begin === main.internals.accessors.begin);`;
  const expected = "1 true\ndisposed not-a-bundle\nwrong-code\nmalformed-query\ntrue\n";

  it("share classes and the started module, with import", () => {
    const text = program("((name) => import(name))", accessed);
    expect(node(["--input-type=module", "--eval", text])).toBe(expected);
  });

  it("share them with require", () => {
    expect(node(["--eval", program("require", sameFunctions)])).toBe(expected);
  });
});

function leaves(value: unknown): string[] {
  return typeof value === "string" ? [value] : Object.values(value as object).flatMap(leaves);
}

/** Returns the paths of all files in a folder of the package. */
function filesIn(folder: string): string[] {
  const found = readdirSync(new URL(folder, home), { recursive: true, withFileTypes: true });
  return found.filter((it) => it.isFile()).map((it) => relative(fileURLToPath(home), join(it.parentPath, it.name)));
}

function read(path: string): string {
  return readFileSync(new URL(path, home), "utf8");
}

/** Returns the output of a program in a Node that is quiet about what it considers experimental. */
function node(words: readonly string[]): string {
  return run(process.execPath, ["--no-warnings", ...words]);
}

function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { cwd: fileURLToPath(home), encoding: "utf8" });
}
