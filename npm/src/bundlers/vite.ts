// The plug-in for Vite, and for frameworks on it: the entry `wardgate/vite`.
//
// An import of a folder of policies becomes a module with their bundle. While the development server
// runs, each saved, new or removed policy replaces that module alone: the PDPs of the page take the
// new bundle, and its state stays.

import { dirname, join, resolve } from "node:path";

import { readBundlerOptions, type BundlerOptions } from "./bundler-options.ts";
import { compileFolder, hotModuleText, moduleText } from "./compile-folder.ts";
import { PolicyError } from "./policy-error.ts";
import { hasFile, isFolder, pathsIn } from "./policy-folder.ts";

export type { BundlerOptions } from "./bundler-options.ts";

/** The plug-in, as far as Vite calls it. */
export interface VitePlugin {
  readonly name: string;
  readonly enforce: "pre";
  readonly config: () => { readonly optimizeDeps: { readonly exclude: string[] } };
  readonly configResolved: (config: ViteConfig) => void;
  readonly configureServer: (server: ViteServer) => void;
  readonly resolveId: (this: PluginContext, source: string, importer: string | undefined) => Promise<string | null>;
  readonly load: (this: PluginContext, id: string) => Promise<{ readonly code: string; readonly map: null } | undefined>;
  readonly hotUpdate: <M>(this: HotContext<M>, change: { readonly file: string; readonly modules: M[] }) => M[] | undefined;
}

interface ViteConfig {
  readonly root: string;
  readonly isProduction: boolean;
  readonly command: "build" | "serve";
}

interface ViteServer {
  readonly watcher: { add(path: string): unknown };
}

interface PluginContext {
  resolve(source: string, importer: string | undefined, options: { readonly skipSelf: boolean }): Promise<object | null>;
  addWatchFile(path: string): void;
  warn(message: string): void;
}

interface HotContext<M> {
  readonly environment: { readonly moduleGraph: { getModuleById(id: string): M | undefined } };
}

/**
 * Returns the plug-in: it compiles the folder that `import policies from "./policies"` names.
 *
 * @throws TypeError or RangeError if an option is invalid.
 *
 * @example
 *     export default defineConfig({ plugins: [wardgate({ key: "release.jwk" })] });
 */
export function wardgate(options: BundlerOptions = {}): VitePlugin {
  const settings = readBundlerOptions(options);
  const imported = new Set<string>();
  let config: ViteConfig | undefined;
  let server: ViteServer | undefined;
  return {
    name: "wardgate",
    enforce: "pre",
    // A package that Vite bundles for development does not find the modules beside it.
    config: () => ({ optimizeDeps: { exclude: ["wardgate"] } }),
    configResolved: (resolved) => void (config = resolved),
    configureServer: (started) => void (server = started),
    async resolveId(source, importer) {
      if (!settings.folders.includes(source.split("/").at(-1)!)) return null;
      // A file of this name comes first, and so does a folder with an index.
      if ((await this.resolve(source, importer, { skipSelf: true })) !== null) return null;
      const folder = await folderOf(source, importer, config!.root);
      return folder === undefined ? null : PREFIX + folder;
    },
    async load(id) {
      if (!id.startsWith(PREFIX)) return undefined;
      const folder = id.slice(PREFIX.length);
      imported.add(folder);
      for (const path of await pathsIn(folder)) this.addWatchFile(path);
      server?.watcher.add(folder);
      const compiled = await compileFolder(folder, settings, config!.isProduction).catch(refuse);
      if (compiled.warning !== undefined) this.warn(compiled.warning);
      const isServed = config!.command === "serve";
      return { code: isServed ? hotModuleText(compiled, "import.meta.hot") : moduleText(compiled), map: null };
    },
    hotUpdate({ file, modules }) {
      const changed = [...imported].filter((folder) => hasFile(folder, file));
      const found = changed.map((folder) => this.environment.moduleGraph.getModuleById(PREFIX + folder));
      return changed.length === 0 ? undefined : [...new Set([...modules, ...found.filter((one) => one !== undefined)])];
    },
  };
}

/** Returns the folder that an import names, whether it is there or not; `undefined` for the name of a package. */
async function folderOf(source: string, importer: string | undefined, root: string): Promise<string | undefined> {
  if (source.startsWith(".")) return importer === undefined ? undefined : resolve(dirname(importer.split("?")[0]!), source);
  if (!source.startsWith("/")) return (await isFolder(source)) ? resolve(source) : undefined;
  return (await isFolder(source)) ? source : join(root, source);
}

/** Throws the error as Vite shows it: with the place, and the line of the file. */
function refuse(error: unknown): never {
  if (!(error instanceof PolicyError) || error.place === undefined) throw error;
  const { file, line, column } = error.place;
  // The overlay shows the column as it is, and opens the editor there.
  const loc = line === undefined ? undefined : { file, line, column };
  throw Object.assign(error, { id: file, ...(loc && { loc }), frame: error.frame });
}

const PREFIX = "\0wardgate:";
