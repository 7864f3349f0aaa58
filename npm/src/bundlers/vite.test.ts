// The plug-in for Vite: builds, and the development server.

import { rmSync } from "node:fs";
import { join } from "node:path";

import { build, createServer, type InlineConfig, type Plugin, type ViteDevServer } from "vite";
import { describe, expect, it, onTestFinished, vi } from "vitest";

import type { ImportedPolicies } from "./imported.ts";
import { albumFor, BROKEN, MAIN, project, viewAs, write } from "./testing-bundlers.ts";
import { wardgate, type BundlerOptions } from "./vite.ts";

const config = (root: string, options?: BundlerOptions): InlineConfig => ({
  root,
  configFile: false,
  logLevel: "silent",
  plugins: [wardgate(options) satisfies Plugin],
});

async function built(files: Readonly<Record<string, string>>, options?: BundlerOptions): Promise<string> {
  const rollupOptions = { input: "main.js", external: ["wardgate/policies"], preserveEntrySignatures: "strict" as const };
  const output = await build({ ...config(project(files), options), build: { write: false, minify: false, rollupOptions } });
  const { output: chunks } = (Array.isArray(output) ? output[0] : output) as { output: { code?: string; source?: string }[] };
  return chunks.map(({ code, source }) => code ?? source).join("\n");
}

async function served(files: Readonly<Record<string, string>>): Promise<{ root: string; server: ViteDevServer; policies: () => Promise<ImportedPolicies> }> {
  const root = project(files);
  const server = await createServer({ ...config(root), server: { middlewareMode: true, ws: false, watch: { usePolling: true, interval: 20 } }, appType: "custom" });
  onTestFinished(() => server.close());
  const load = async () => ((await server.ssrLoadModule("/main.js")) as { default: ImportedPolicies }).default;
  return { root, server, policies: load };
}

/** Resolves once the server sends a message to the page. */
function sent(server: ViteDevServer): Promise<object> {
  return new Promise((resolve) => {
    const { hot } = server.environments.client;
    vi.spyOn(hot, "send").mockImplementation((...payload: unknown[]) => resolve(payload[0] as object));
  });
}

describe("a build", () => {
  it("has the bundle of the folder", async () => {
    const text = await built({ "main.js": MAIN, "policies/a.yaml": albumFor("user") });
    expect(text).toMatch(/imported\("[\w+/=]+", "unsigned"\)/);
    expect(text).not.toContain("import.meta.hot");
  });

  it("prefers a file of that name, and a folder with an index", async () => {
    for (const path of ["policies.js", "policies/index.js"]) {
      const text = await built({ "main.js": MAIN, [path]: "export default 'of a file'", "policies/a.yaml": BROKEN });
      expect(text).toContain("of a file");
    }
  });

  const wrong: readonly (readonly [name: string, files: Record<string, string>, message: RegExp])[] = [
    ["a policy with an error", { "policies/a.yaml": BROKEN }, /a\.yaml:6:\d+: /],
    ["an empty folder", { "policies/readme.md": "#" }, /no-policies/],
    ["a missing folder", {}, /the folder `.*\/policies` of policies cannot be read: ENOENT/],
  ];

  it.each(wrong)("fails with %s", async (_, files, message) => {
    await expect(built({ "main.js": MAIN, ...files })).rejects.toThrow(message);
  });
});

describe("the development server", () => {
  it("gives policies that decide", async () => {
    const { policies } = await served({ "main.js": MAIN, "policies/a.yaml": albumFor("user") });
    using pdp = await (await policies()).open();
    expect([pdp.isAllowed(viewAs("user")), pdp.isAllowed(viewAs("guest"))]).toEqual([true, false]);
  });

  it("reports the place of an error, as the overlay shows it", async () => {
    const { root, server } = await served({ "main.js": MAIN, "policies/a.yaml": BROKEN });
    const error = (await server.environments.client.transformRequest("/@id/__x00__wardgate:" + join(root, "policies")).catch((thrown: unknown) => thrown)) as object;
    expect(error).toMatchObject({ id: join(root, "policies/a.yaml"), loc: { file: join(root, "policies/a.yaml"), line: 6 }, frame: expect.stringContaining("^") as string });
  });

  const changes: readonly (readonly [name: string, change: (root: string) => void, roles: readonly boolean[]])[] = [
    ["is saved", (root) => write(root, "policies/a.yaml", albumFor("guest")), [false, true]],
    ["is added", (root) => write(root, "policies/deep/b.yaml", albumFor("guest").replace("version: default", "version: new")), [true, false]],
    ["is removed", (root) => rmSync(join(root, "policies/b.yaml")), [true, false]],
  ];

  it.each(changes)("replaces the module alone when a policy %s", async (_, change, expected) => {
    const other = albumFor("guest").replace("version: default", "version: old");
    const { root, server, policies } = await served({ "main.js": MAIN, "policies/a.yaml": albumFor("user"), "policies/b.yaml": other });
    const [{ bundle }] = [await policies(), await server.environments.client.transformRequest("/main.js")];
    await server.environments.client.transformRequest("/@id/__x00__wardgate:" + join(root, "policies"));
    const message = sent(server);
    change(root);
    expect(await message).toMatchObject({ type: "update", updates: [{ path: expect.stringContaining("wardgate:") as string }] });
    const now = await policies();
    expect(Buffer.from(now.bundle).equals(bundle)).toBe(false);
    using pdp = await now.open();
    expect([pdp.isAllowed(viewAs("user")), pdp.isAllowed(viewAs("guest"))]).toEqual(expected);
  });
});
