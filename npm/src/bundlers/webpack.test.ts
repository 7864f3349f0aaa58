// The plug-in for webpack and Next. Webpack loads the built file of the entry, which is the loader too.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { describe, expect, it, vi } from "vitest";
import webpack, { type Configuration, type Stats } from "webpack";

import { albumFor, BROKEN, MAIN, project, viewAs, write } from "./testing-bundlers.ts";
import type * as entry from "./webpack.ts";

const { default: load, WardgatePlugin, withWardgate } = (await import(new URL("../../dist/node/webpack.js", import.meta.url).href)) as typeof entry;

function configuration(root: string, mode: "development" | "production", options: entry.BundlerOptions = {}): Configuration {
  return {
    context: root,
    entry: "./main.js",
    mode,
    target: "node",
    devtool: false,
    experiments: { outputModule: true },
    output: { path: join(root, "out"), filename: "main.mjs", library: { type: "module" } },
    externals: { "wardgate/policies": "module wardgate/policies" },
    plugins: [new WardgatePlugin(options) as never],
  };
}

async function built(root: string, mode: "development" | "production", options?: entry.BundlerOptions): Promise<Stats> {
  return (await promisify(webpack as never)(configuration(root, mode, options) as never)) as Stats;
}

async function decidedBy(root: string, role: string): Promise<boolean> {
  const url = `${new URL(`file://${join(root, "out/main.mjs")}`).href}?${Math.random()}`;
  const { default: policies } = (await import(/* @vite-ignore */ url)) as { default: { open(): Promise<{ isAllowed(request: object): boolean }> } };
  return (await policies.open()).isAllowed(viewAs(role));
}

describe("a build", () => {
  it.each(["development", "production"] as const)("for %s has policies that decide", async (mode) => {
    vi.stubEnv("WARDGATE_SIGNING_KEY", "");
    const root = project({ "main.js": MAIN, "policies/a.yaml": albumFor("user") });
    const stats = await built(root, mode);
    expect(stats.compilation.errors).toEqual([]);
    expect(stats.compilation.warnings.map(({ message }) => message)).toEqual(mode === "production" ? [expect.stringContaining("are not signed")] : []);
    expect([await decidedBy(root, "user"), await decidedBy(root, "guest")]).toEqual([true, false]);
    vi.unstubAllEnvs();
  });

  it("is signed by the key, and has nothing of it", async () => {
    const key = new URL("../../fixtures/trust/release.jwk", import.meta.url).pathname;
    const root = project({ "main.js": MAIN, "policies/a.yaml": albumFor("user") });
    const stats = await built(root, "production", { key });
    expect([stats.compilation.errors, stats.compilation.warnings]).toEqual([[], []]);
    const { priv, pub } = JSON.parse(readFileSync(key, "utf8")) as { priv: string; pub: string };
    const text = readFileSync(join(root, "out/main.mjs"), "utf8");
    expect([text.includes(pub), text.includes(priv), text.includes(root)]).toEqual([true, false, false]);
    expect(await decidedBy(root, "user")).toBe(true);
  });

  it("prefers a folder with an index, where an import may name one", async () => {
    const root = project({ "package.json": "{}", "main.js": MAIN, "policies/index.js": "export default 'of a file'", "policies/a.yaml": BROKEN });
    expect((await built(root, "development")).compilation.errors).toEqual([]);
    expect(readFileSync(join(root, "out/main.mjs"), "utf8")).toContain("of a file");
  });

  const wrong: readonly (readonly [name: string, files: Record<string, string>, message: RegExp])[] = [
    ["a policy with an error", { "policies/a.yaml": BROKEN }, /a\.yaml:6:\d+: /],
    ["an empty folder", { "policies/readme.md": "#" }, /no-policies/],
    ["a missing folder", {}, /Can't resolve '\.\/policies'/],
  ];

  it.each(wrong)("fails with %s", async (_, files, message) => {
    const { compilation } = await built(project({ "main.js": MAIN, ...files }), "development");
    expect(compilation.errors.map(({ message }) => message)).toEqual([expect.stringMatching(message)]);
  });
});

describe("docs/runtimes/bundlers.md", () => {
  const page = readFileSync(new URL("../../../docs/runtimes/bundlers.md", import.meta.url), "utf8");
  const block = (name: string) => new RegExp(`^\`\`\`js\\n(// ${name}\\n.*?)^\`\`\`$`, "ms").exec(page)![1]!;
  const configured = async (name: string) => {
    const root = project({ "main.js": MAIN, "policies/a.yaml": albumFor("user"), [name]: block(name) });
    return { root, config: ((await import(/* @vite-ignore */ join(root, name))) as { default: object }).default };
  };

  it("shows a configuration of webpack that builds", async () => {
    const { root, config } = await configured("webpack.config.mjs");
    const stats = (await promisify(webpack as never)({ ...configuration(root, "development"), ...config, entry: "./main.js" } as never)) as Stats;
    expect(stats.compilation.errors).toEqual([]);
    expect(await decidedBy(root, "user")).toBe(true);
  });

  it("shows a configuration of Next", async () => {
    const { config } = await configured("next.config.mjs");
    expect(config).toMatchObject({ reactStrictMode: true, turbopack: { rules: { "**/policies/**/*.yaml": { as: "*.js" } } } });
  });
});

describe("watching", () => {
  const changes: readonly (readonly [name: string, change: (root: string) => unknown, guest: boolean])[] = [
    ["saved", (root) => write(root, "policies/a.yaml", albumFor("user", "guest")), true],
    ["added", (root) => write(root, "policies/deep/b.yaml", albumFor("guest").replace("resource: album", "resource: photo")), false],
    ["removed", (root) => [rmSync(join(root, "policies/b.yaml")), write(root, "policies/a.yaml", albumFor("user", "new"))], false],
  ];

  it.each(changes)("builds again when a policy is %s", async (_, change, guest) => {
    const other = albumFor("guest").replace("version: default", "version: old");
    const root = project({ "main.js": MAIN, "policies/a.yaml": albumFor("user"), "policies/b.yaml": other });
    const compiler = webpack(configuration(root, "development"))!;
    const stats: Stats[] = [];
    let text: string | undefined;
    await new Promise<void>((resolve, reject) => {
      const watching = compiler.watch({ poll: 50, aggregateTimeout: 20 }, (error, next) => {
        if (error) return reject(error);
        stats.push(next!);
        // A build that a newer change overtook has written nothing.
        if (!existsSync(join(root, "out/main.mjs"))) return;
        const now = readFileSync(join(root, "out/main.mjs"), "utf8");
        // The first builds of a watcher may come twice.
        if (text === undefined) change(root);
        else if (now !== text) return watching!.close(() => resolve());
        text = now;
      });
    });
    expect(stats.at(-1)!.compilation.errors).toEqual([]);
    expect([await decidedBy(root, "user"), await decidedBy(root, "guest")]).toEqual([true, guest]);
  });
});

describe("withWardgate", () => {
  it("adds the plug-in and a rule for Turbopack, and leaves the rest", () => {
    const config = withWardgate({ reactStrictMode: true, webpack: (given: object) => ({ ...given, name: "of the app" }), turbopack: { rules: { "*.svg": "svg" } } } as never, {}) as unknown as {
      webpack(given: object, context: object): { plugins: unknown[]; name: string };
      turbopack: { rules: object };
      outputFileTracingIncludes: Record<string, string[]>;
    };
    const { plugins, name } = config.webpack({ plugins: [], module: { rules: [] } }, {});
    expect([plugins.length, name, Object.keys(config.turbopack.rules)]).toEqual([1, "of the app", ["*.svg", "**/policies/**/*.yaml", "**/policies/**/*.yml"]]);
    expect(load("text")).toBe("text");
  });

  it("adds the modules of the PDP to the files of a server, after those of the app", () => {
    const config = withWardgate({ outputFileTracingIncludes: { "/**": ["./terms.txt"], "/a": ["./a.txt"] } }, {});
    const { "/**": every, ...others } = config.outputFileTracingIncludes;
    expect([every, others]).toEqual([["./terms.txt", "wasm/wardgate_bg.wasm", "wasm/wardgate_nosimd_bg.wasm"], { "/a": ["./a.txt"] }]);
  });
});
